// Installations without the packages of brokers say which to install, when a pipeline is configured and when it would send.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { targets } from '../../../test/support/server.ts'
import { errorCode } from './broker-message.ts'
import { isInstalled, loadPackage } from '../../platform/runtime/optional-packages.ts'
import { packagesOf, validatePipeline } from './request-checks.ts'
import type { UpsertPipelines } from './schema.ts'

const ABSENT = '@fictional/absent-broker'
const body = {
  cloud_pubsub: { project: 'fictional-clinic', topic: 'results', message_ordering: false },
  rabbitmq: { uri: 'amqps://user:secret@broker.example.com/', exchange: 'results' },
  azure_amqp: null,
} as unknown as UpsertPipelines

test('npm has installed the packages of every broker, since all of them accept the Node that runs npm', () => {
  for (const name of Object.values(packagesOf).flat()) assert(isInstalled(name), name)
})

test('a pipeline whose package is not installed is refused with the command that installs it', async () => {
  const faultsWith = (hasPackage: (name: string) => boolean) =>
    validatePipeline(body, { targets, sandbox: true, mayPublishTo: () => true, hasPackage })
  assert.deepEqual(await faultsWith(isInstalled), [])
  const faults = await faultsWith((name) => name === 'amqplib')
  assert.deepEqual(
    faults.map(({ loc, msg }) => [loc, msg]),
    [
      [
        ['body', 'cloud_pubsub'],
        'Value error, needs packages that the operator has to install: npm install @google-cloud/pubsub',
      ],
    ],
  )
})

test('a broker whose package is missing fails with a code that names the package to install', async () => {
  // oxlint-disable-next-line typescript/no-unsafe-return -- the package is not there
  const absent = loadPackage(ABSENT, () => import(ABSENT))
  await assert.rejects(absent, {
    code: `not installed: npm install ${ABSENT}`,
    message: `The package ${ABSENT} is not installed`,
  })
  assert.equal(errorCode(await absent.catch((error: unknown) => error)), `not installed: npm install ${ABSENT}`)
  for (const name of Object.values(packagesOf).flat()) assert(`not installed: npm install ${name}`.length <= 60, name)
})

test('another fault of a package is its own', async () => {
  const broken = Object.assign(new Error("Cannot find package 'other' imported from a.js"), { code: 'ERR_MODULE_NOT_FOUND' })
  await assert.rejects(
    loadPackage('amqplib', () => Promise.reject(broken)),
    broken,
  )
  assert.equal(isInstalled(ABSENT), false)
})
