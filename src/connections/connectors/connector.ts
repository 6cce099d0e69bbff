// A vendor's cloud behind one small interface. The framework keeps tokens, decides what to ask for and when, and stores what comes.
import type { ServiceAccount } from '../../settings/service-account.ts'
import type { OAuthProvider } from '../../people/users/sources.ts'
import type { IncomingSample } from '../../wearables/ingestion/ingest.ts'
import type { Resource } from '../../wearables/resources/resources.ts'
import type { TimeseriesName } from '../../wearables/resources/timeseries.ts'
import type { IncomingStream } from '../../wearables/streams/workout-streams.ts'
import type { SummaryKind } from '../../wearables/summaries/schema.ts'
import type { IncomingSummary } from '../../wearables/summaries/summaries.ts'

/** A team's own application at the vendor (its custom credentials), and where the vendor is. A setting per provider replaces the addresses. */
export interface VendorApp {
  client_id: string
  client_secret: string
  /** What else the team's credentials for the vendor hold, such as the key that signs notifications. */
  details: Readonly<Record<string, unknown>> | null
  urls: VendorUrls
}
export interface VendorUrls {
  authorize: string
  token: string
  api: string
}

/** What a user has granted. `expires_at_ms` null: does not expire; `scopes` null: the vendor does not say. */
export interface Grant {
  access_token: string
  refresh_token: string | null
  expires_at_ms: number | null
  scopes: string[] | null
  /** The user's id at the vendor: notifications name it. */
  external_user_id: string | null
}

/** Why a vendor did not do what was asked. Its own texts are never kept: they may hold patient data or tokens. */
export type VendorFailure =
  | 'invalid_grant' // the grant has ended: terminal
  | 'scope_missing' // the user did not grant what this resource needs
  | 'rate_limited' // `retry_after_ms` says until when
  | 'unavailable' // 5xx, a lost connection, a deadline
  | 'not_ready' // a record that a notification named cannot be read yet
  | 'unexpected' // an answer that the vendor's description does not allow

/** Nothing that a vendor says puts it off for longer. */
const WAIT_MS_MAX = 86_400_000

export class VendorError extends Error {
  readonly failure: VendorFailure
  /** How long to wait, at most a day; null: the vendor does not say. */
  readonly retry_after_ms: number | null
  constructor(failure: VendorFailure, retry_after_ms: number | null = null) {
    super(`the provider: ${failure}`)
    this.failure = failure
    this.retry_after_ms = retry_after_ms !== null && retry_after_ms > 0 ? Math.min(retry_after_ms, WAIT_MS_MAX) : null
  }
}

/** One request to a vendor, with deadline, size limit, and no redirect followed. Answers of any status are returned; a lost connection throws VendorError. */
export type VendorHttp = (request: {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  headers?: Record<string, string>
  /** A string is sent as it is; an object as a form. */
  body?: string | Record<string, string>
}) => Promise<{ status: number; headers: Headers; text: string }>

/** What a request for a user's data needs. */
export interface Access {
  http: VendorHttp
  app: VendorApp
  access_token: string
}

export interface PullRequest {
  resource: Resource
  /** Half-open: [from, to). */
  from_ms: number
  to_ms: number
  /** The user's zone for vendors that send local times; null: unknown. */
  time_zone: string | null
  /** Ids of records that a notification named; the range is then only a hint. */
  ids?: string[]
}

export type Pulled =
  | { resource: TimeseriesName; samples: IncomingSample[] }
  | { kind: SummaryKind; records: IncomingSummary[] }
  /** Streams of workouts that were yielded before. */
  | { streams: IncomingStream[] }
  /** Records that the vendor says were deleted. */
  | { kind: SummaryKind; deleted_keys: string[] }

export interface InboundNotification {
  method: string
  headers: Record<string, string | undefined>
  query: Record<string, string>
  body: Buffer
  /** The token of `subscribe` for this team: what a handshake has to name. */
  verify_token: string
  /** By the clock of the team, which may be days ahead in a sandbox. */
  now_ms: number
  /** By the clock of the server: what a signature's time is compared with. */
  received_ms: number
}

/** What a notification says has changed. A connector never takes data from an unsigned notification: it only leads to a pull. */
export interface Change {
  external_user_id: string
  resource: Resource
  from_ms: number
  to_ms: number
  ids?: string[]
}

/** `answer`: what the vendor expects to read (a challenge, a probe). A missing secret or signature is `refused`, unless the vendor signs nothing at all. */
export type InboundOutcome =
  | {
      outcome: 'verified' | 'unsigned'
      answer?: { status: number; body: unknown }
      changes: Change[]
      revoked_accounts?: string[]
    }
  | { outcome: 'refused'; answer?: { status: number; body: unknown } }

/** Pulls a resource of a user. */
export type Pull = (access: Access, request: PullRequest) => AsyncGenerator<Pulled>

/** Pulls each resource by its function. */
export const pullEach =
  (vendor: string, pulls: Partial<Record<Resource, Pull>>): Connector['pull'] =>
  (http, app, access_token, request) => {
    const pull = pulls[request.resource]
    if (!pull) throw new Error(`${vendor} has no ${request.resource}`)
    return pull({ http, app, access_token }, request)
  }

/** A resource, and those whose data comes with it. */
export const withCompanions = (connector: Pick<Connector, 'comesWith'> | undefined, resource: Resource): Resource[] => [
  resource,
  ...(Object.entries(connector?.comesWith ?? {}) as [Resource, Resource][]).flatMap(([name, of]) =>
    of === resource ? [name] : [],
  ),
]

export interface Connector {
  provider: OAuthProvider
  description: string
  resources: readonly Resource[]
  urls: VendorUrls
  scopes: readonly string[]
  /** Which scope a resource needs, for the availability of resources. */
  scopesByResource: Partial<Record<Resource, string>>
  /** Scopes without which a resource lacks a part, such as the recovery of a night. */
  alsoUses?: Partial<Record<Resource, readonly string[]>>
  /** Resources whose data comes with that of another one: only the other one is asked for. */
  comesWith?: Partial<Record<Resource, Resource>>
  pkce: boolean
  /** The longest range of one request, in days, and the vendor's limits of an application: requests per window. */
  days_per_request: number
  limits: readonly { requests: number; window_ms: number }[]
  authorizeUrl(
    app: VendorApp,
    request: { redirect_uri: string; state: string; scopes: readonly string[]; code_challenge: string },
  ): string
  exchange(
    http: VendorHttp,
    app: VendorApp,
    request: { code: string; redirect_uri: string; code_verifier: string; now_ms: number },
  ): Promise<Grant>
  refresh(http: VendorHttp, app: VendorApp, grant: Grant, now_ms: number): Promise<Grant>
  /** `keep` stores tokens that are refreshed for it, before they are used. */
  revoke(http: VendorHttp, app: VendorApp, grant: Grant, now_ms: number, keep?: (grant: Grant) => Promise<unknown>): Promise<void>
  pull(http: VendorHttp, app: VendorApp, access_token: string, request: PullRequest): AsyncIterable<Pulled>
  /** Undefined: the vendor sends no notifications; the framework polls. */
  receive?(app: VendorApp, request: InboundNotification, http: VendorHttp): InboundOutcome | Promise<InboundOutcome>
  /** Whether `subscribe` is for each user, whose access token it then gets, or once for the application. Default: the application. */
  subscribes?: 'user' | 'application'
  /**
   * Subscribes the application (or this user) to notifications; renewed before `renew_at_ms`. `details` are kept in the team's credentials:
   * a secret that the vendor shows once.
   */
  subscribe?(
    http: VendorHttp,
    app: VendorApp,
    request: {
      callback_url: string
      verify_token: string
      access_token: string | null
      now_ms: number
      /** The operator's account at Google Cloud. */
      googleAccount?: ServiceAccount | undefined
    },
  ): Promise<{ renew_at_ms: number | null; details?: Readonly<Record<string, unknown>> }>
}
