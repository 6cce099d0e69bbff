// How the records of modules are put together: in which order, and what is refused at the start.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hookPoint, defineHook } from '../platform/db/hooks.ts'
import type { PlainTx } from '../platform/db/transaction.ts'
import { feature } from '../platform/http/feature-flags.ts'
import { operation } from '../platform/http/operation.ts'
import type { Module } from '../platform/module/module.ts'
import type { EventType } from '../platform/queue/event-type.ts'
import { defineHandler, defineJob } from '../platform/queue/outbox.ts'
import { T } from '../platform/schema/schema.ts'
import { compose } from './compose.ts'

const work = defineJob('made.for_a_test', T.Object({}))
const shown = operation({
  id: 'made_for_a_test',
  logsAccess: false,
  method: 'GET',
  path: '/made-for-a-test',
  summary: 'Made for this test',
  reply: T.Object({}),
  run: async () => ({}),
})
const handler = defineHandler(work, async () => {})

const noted: EventType = { name: 'note.created', family: 'lab', example: () => ({}) }

const composeRecords = (records: Omit<Module, 'about'>[]) =>
  compose(records.map((record) => ({ about: 'made for this test', ...record })))

describe('a process is refused where', () => {
  const twice: [string, Partial<Module>, RegExp][] = [
    ['tables', { tables: { ofTeams: ['note'] } }, /low\/one and high\/other both have the table note/],
    ['features', { features: [feature('notes', 'notes')] }, /both have the feature or option notes/],
    ['options', { options: [{ name: 'notes', about: 'notes' }] }, /both have the feature or option notes/],
    ['types of events', { eventTypes: [noted] }, /both have the event type note\.created/],
    ['jobs', { jobs: [handler] }, /both have the job made\.for_a_test/],
    ['constraints', { constraints: { note__name: () => new Error() as never } }, /both have the constraint note__name/],
    ['operations', { tag: 'notes', operations: [shown] }, /both have the operation made_for_a_test/],
  ]
  for (const [what, record, says] of twice)
    test(`two modules have the same of their ${what}`, () => {
      const modules = [
        { name: 'low/one', ...record },
        { name: 'high/other', ...record },
      ]
      assert.throws(() => composeRecords(modules), says)
      assert.doesNotThrow(() => composeRecords(modules.slice(1)))
    })

  test('two modules have the same name', () => {
    assert.throws(() => composeRecords([{ name: 'low/one' }, { name: 'low/one' }]), /both have the module low\/one/)
  })

  test('a module has operations, and nothing says in which group they are shown', () => {
    assert.throws(() => composeRecords([{ name: 'low/one', operations: [shown] }]), /low\/one has operations and no tag/)
  })

  test('a hook runs after the hooks of an unknown module', () => {
    const hook = defineHook(hookPoint<[]>('made.happened'), () => {}, { runsAfter: 'high/none' })
    assert.throws(() => composeRecords([{ name: 'low/one', hooks: [hook] }]), /after those of high\/none, which is not a module/)
  })
})

describe('modules that are listed from the bottom up', () => {
  const happened = hookPoint<[], PlainTx>('made.happened')
  const names = ['low/one', 'middle/two', 'high/three']

  test('hook in that order, but for hooks that name a module that they run after', async () => {
    const ran: string[] = []
    const hook = (name: string, predecessor?: string) =>
      defineHook(happened, () => void ran.push(name), predecessor === undefined ? {} : { runsAfter: predecessor })
    const { hooks } = composeRecords([
      { name: names[0]!, hooks: [hook('late', names[1]), hook('one')] },
      { name: names[1]!, hooks: [hook('two')] },
      { name: names[2]!, hooks: [hook('three')] },
    ])
    await hooks.notify({} as PlainTx, happened)
    assert.deepEqual(ran, ['one', 'two', 'late', 'three'])
  })

  test('erase teams, and carry out jobs, in the reverse order', async () => {
    const erased: string[] = []
    const { teamErasers, handlers } = composeRecords(
      names.map((name) => ({
        name,
        jobs: [defineHandler(defineJob(name, T.Object({})), async () => {})],
        erasers: { team: async () => erased.push(name) },
      })),
    )
    for (const erase of teamErasers) await erase({} as PlainTx, 'a team', 1)
    assert.deepEqual(erased, names.toReversed())
    assert.deepEqual(
      handlers.map(({ job: { name } }) => name),
      names.toReversed(),
    )
  })

  test('bring reference data in that order', async () => {
    const loaded: string[] = []
    const { loadReferenceData } = composeRecords(
      names.map((name) => ({ name, referenceData: async () => void loaded.push(name) })),
    )
    await loadReferenceData({} as never, true)
    assert.deepEqual(loaded, names)
  })
})
