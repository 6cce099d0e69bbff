// A server for tests, started for them or already running, and teams in it.
import { manage, type Organization } from './server-requests.ts'
import { readDemo, startServer, type StartOptions } from './server-process.ts'
import { TestTeam, type TeamOptions } from './test-team.ts'

export interface ConnectOptions {
  /** The address of the server. Default: DRAWBRIDGE_URL. */
  url?: string
  /** A management key of the whole organization. Default: DRAWBRIDGE_MANAGEMENT_KEY. */
  managementKey?: string
  /** The organization in which teams are created. Default: DRAWBRIDGE_ORG_ID. */
  orgId?: string
  /** In place of the other three: the data folder of a server with demo data on this machine, which has them in `demo.json`. */
  dataDir?: string
}

export class Drawbridge {
  readonly #org: Organization
  readonly #stopServer: (() => Promise<void>) | undefined

  private constructor({ url, orgId, managementKey }: Organization, stopServer?: () => Promise<void>) {
    this.#org = { url: url.replace(/\/+$/, ''), orgId, managementKey }
    this.#stopServer = stopServer
  }

  /** The address of the server. */
  get url(): string {
    return this.#org.url
  }

  get orgId(): string {
    return this.#org.orgId
  }

  /** The management key; with `url` and `orgId` what another process needs for `connect`. */
  get managementKey(): string {
    return this.#org.managementKey
  }

  /** Uses a server that runs already. @throws Error if an option is missing or the server does not accept the key */
  static async connect(options: ConnectOptions = {}): Promise<Drawbridge> {
    const drawbridge = new Drawbridge(options.dataDir === undefined ? fromEnvironment(options) : readDemo(options.dataDir))
    await manage(drawbridge.#org, 'GET', '')
    return drawbridge
  }

  /** Starts a server of its own with demo data and waits until it is ready. It ends with `stop()`, or with this process. */
  static async start(options: StartOptions = {}): Promise<Drawbridge> {
    const server = await startServer(options)
    return new Drawbridge(server, server.stop)
  }

  /** Creates a team with a sandbox key. Its clock shows the time of the system until the test advances it. */
  createTeam(options: TeamOptions = {}): Promise<TestTeam> {
    return TestTeam.create(this.#org, options)
  }

  /** Ends the server if `start` has started it, and removes its temporary data. */
  async stop(): Promise<void> {
    await this.#stopServer?.()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

function fromEnvironment(options: ConnectOptions): Organization {
  const { DRAWBRIDGE_URL, DRAWBRIDGE_MANAGEMENT_KEY, DRAWBRIDGE_ORG_ID } = process.env
  const url = options.url ?? DRAWBRIDGE_URL
  const managementKey = options.managementKey ?? DRAWBRIDGE_MANAGEMENT_KEY
  const orgId = options.orgId ?? DRAWBRIDGE_ORG_ID
  if (!url || !managementKey || !orgId)
    throw new Error(
      'Drawbridge.connect needs url, managementKey and orgId (or DRAWBRIDGE_URL, DRAWBRIDGE_MANAGEMENT_KEY and DRAWBRIDGE_ORG_ID), or dataDir.',
    )
  return { url, managementKey, orgId }
}
