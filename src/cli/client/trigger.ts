// `bin/drawbridge trigger`: triggers an event in a running sandbox over HTTP, as real requests would, with fictional people. It sends only
// events that really happened: the test of an endpoint sends a sample of any type.
import { randomUUID } from 'node:crypto'
import { UsageError, type Typed } from '../command-tree.ts'
import { createApiClient, type RemoteValues } from './api-client.ts'
import { parseOverrides } from './overrides.ts'
import { patient, place, Sandbox } from './sandbox.ts'

/** The scenario that triggers a type. */
interface Scenario {
  tells: string
  /** The final status of the scenario's object, if it has one. */
  until?: string
  /** @returns the object of the event */
  run: (sandbox: Sandbox) => Promise<{ id: string }>
}

/** Every type that this server emits. */
export const scenarios: Record<string, Scenario> = {
  'labtest.order.created': {
    tells: 'create a kit order',
    until: 'received',
    run: (sandbox) => sandbox.orderKit(),
  },
  'labtest.order.updated': {
    tells: 'order a kit, ship it, register it, and receive its result',
    until: 'completed',
    async run(sandbox) {
      const order = await sandbox.orderKit()
      await sandbox.post(`/v3/order/${order.id}/test`, { interpretation: 'normal' })
      await sandbox.post('/v3/order/testkit/register', {
        sample_id: order.sample_id,
        ...patient,
        patient_address: place,
        consents: [{ consentType: 'terms-of-use' }],
      })
      return order
    },
  },
  'labtest.result.critical': {
    tells: 'order a test and receive a critical result',
    until: 'completed',
    async run(sandbox) {
      const { order } = await sandbox.create('/v3/order', {
        user_id: await sandbox.user(),
        lab_test_id: await sandbox.labTest(),
        ...patient,
        patient_address: place,
      })
      await sandbox.post(`/v3/order/${order.id}/test`, { interpretation: 'critical' })
      return order
    },
  },
  'labtest.appointment.created': {
    tells: 'book a PSC appointment',
    until: 'confirmed',
    run: async (sandbox) => (await sandbox.book()).appointment,
  },
  'labtest.appointment.updated': {
    tells: 'book and cancel a PSC appointment',
    until: 'cancelled',
    async run(sandbox) {
      const { order, appointment } = await sandbox.book()
      const [reason] = await sandbox.get('/v3/order/psc/appointment/cancellation-reasons')
      await sandbox.patch(`/v3/order/${order.id}/psc/appointment/cancel`, { cancellationReasonId: reason.id })
      return appointment
    },
  },
  'labtest.match_review.created': {
    tells: 'receive a result that matches no order',
    until: 'pending_customer_review',
    run: (sandbox) => sandbox.createUnmatchedResult(),
  },
  'labtest.match_review.updated': {
    tells: 'reject an unmatched result',
    until: 'resolved',
    async run(sandbox) {
      const review = await sandbox.createUnmatchedResult()
      await sandbox.post(`/v3/unmatched_result/${review.id}/resolve`, { action: 'reject' })
      return review
    },
  },
  'provider.connection.created': {
    tells: 'connect a user to the health store of a phone',
    run: (sandbox) => sandbox.connect('apple_health_kit'),
  },
  'provider.device.created': {
    tells: 'post a heart rate that a new device recorded',
    run: (sandbox) => sandbox.recordOnDevice(`Fictional ${randomUUID()}`, ['1.0']),
  },
  'provider.device.updated': {
    tells: 'post heart rates that a device recorded before and after an update of its software',
    run: (sandbox) => sandbox.recordOnDevice(`Fictional ${randomUUID()}`, ['1.0', '2.0']),
  },
  'lab_report.parsing_job.created': {
    tells: 'upload a lab report of one page',
    until: 'started',
    run: (sandbox) => sandbox.uploadReport(),
  },
  'lab_report.parsing_job.updated': {
    tells: 'upload a lab report of one page, and have it parsed',
    until: 'completed',
    run: (sandbox) => sandbox.uploadReport(),
  },
}

export interface CommandContext {
  env: Record<string, string | undefined>
  out: (text: string) => void
}

/**
 * Runs `trigger`: returns after the event was emitted. @throws UsageError for an unrecognized type, Error for a type that cannot be
 * triggered
 */
export async function trigger(
  { args, values }: Typed<RemoteValues & { list?: boolean; json?: boolean; override?: string[] }>,
  { env, out }: CommandContext,
): Promise<void> {
  if (values.list) {
    const listed = Object.entries(scenarios).map(([name, { tells }]) => ({ type: name, description: tells }))
    if (values.json) return out(`${JSON.stringify(listed, null, 2)}\n`)
    for (const { type, description } of listed) out(`${type.padEnd(27)}  ${description}\n`)
    return
  }
  const [type, ...more] = args
  if (type === undefined || more.length)
    throw new UsageError('trigger needs one type of event; "bin/drawbridge trigger --list" lists them.')
  const scenario = scenarios[type]
  if (!scenario) {
    // The modules of the program take a second to load.
    const { contents } = await import('../../app/contents.ts')
    if (!contents.eventTypes.some(({ name }) => name === type)) throw new UsageError(`Unrecognized event type ${type}.`)
    throw new Error(`Event type ${type} cannot be triggered. "bin/drawbridge trigger --list" lists the supported types.`)
  }
  const sandbox = new Sandbox(createApiClient(values, env), parseOverrides(values.override))
  await sandbox.assertSandbox()
  const about = await scenario.run(sandbox)
  const events = await sandbox.eventsOf(about.id, type, scenario.until)
  if (values.json) return out(`${JSON.stringify(events, null, 2)}\n`)
  for (const event of events) out(`${event.created_at}  ${event.type}  ${event.object_id}\n`)
}
