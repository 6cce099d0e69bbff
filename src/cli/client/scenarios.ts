// The scenarios of `trigger`: the requests that lead to an event of each type.
import { randomUUID } from 'node:crypto'
import { healthScenarios } from './health-events.ts'
import { patient, place, type Ordered, type Scenario } from './sandbox.ts'

/** Every type that a sandbox can cause with the key of a team. */
export const scenarios: Record<string, Scenario> = {
  'labtest.order.created': {
    tells: 'create a kit order',
    finalStatus: 'received',
    run: (sandbox) => sandbox.orderKit(),
  },
  'labtest.order.updated': {
    tells: 'order a kit, ship it, register it, and receive its result',
    finalStatus: 'completed',
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
    finalStatus: 'completed',
    async run(sandbox) {
      const { order } = await sandbox.create<Ordered>('/v3/order', {
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
    finalStatus: 'confirmed',
    run: async (sandbox) => (await sandbox.book()).appointment,
  },
  'labtest.appointment.updated': {
    tells: 'book and cancel a PSC appointment',
    finalStatus: 'cancelled',
    async run(sandbox) {
      const { order, appointment } = await sandbox.book()
      const [reason] = await sandbox.get<[{ id: string }]>('/v3/order/psc/appointment/cancellation-reasons')
      await sandbox.patch(`/v3/order/${order.id}/psc/appointment/cancel`, { cancellationReasonId: reason.id })
      return appointment
    },
  },
  'labtest.match_review.created': {
    tells: 'receive a result that matches no order',
    finalStatus: 'pending_customer_review',
    run: (sandbox) => sandbox.createUnmatchedResult(),
  },
  'labtest.match_review.updated': {
    tells: 'reject an unmatched result',
    finalStatus: 'resolved',
    async run(sandbox) {
      const review = await sandbox.createUnmatchedResult()
      await sandbox.post(`/v3/unmatched_result/${review.id}/resolve`, { action: 'reject' })
      return review
    },
  },
  'continuous_query.result_table.changed': {
    tells: 'post a heart rate as a phone does, and create a continuous query, with a management key',
    async run(sandbox, type) {
      const user_id = await sandbox.user()
      await sandbox.recordOnDevice(`Fictional ${randomUUID()}`, ['1.0'])
      const previousEventId = await sandbox.newest(type)
      await sandbox.createQuery({
        select: [{ group_key: '*' }, { func: 'mean', arg: { timeseries: 'heartrate', field: 'value' } }],
        group_by: [{ date_trunc: { unit: 'day' }, arg: { index: 'timeseries' } }],
      })
      return { id: user_id, previousEventId }
    },
  },
  'provider.connection.created': {
    tells: 'connect a user to the health store of a phone',
    run: (sandbox) => sandbox.connect('apple_health_kit'),
  },
  'provider.connection.error': {
    tells: 'connect a demo of fitbit, and end the connection in an error',
    async run(sandbox, type) {
      const { id: user_id } = await sandbox.userCalled('drawbridge-trigger-demo')
      const previousEventId = await sandbox.newest(type)
      await sandbox.create('/v2/link/connect/demo', { user_id, provider: 'fitbit' })
      await sandbox.post('/v1/sandbox/demo/error', { user_id, provider: 'fitbit', error_type: 'deregistered_per_provider' })
      return { id: user_id, previousEventId }
    },
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
    finalStatus: 'started',
    run: (sandbox) => sandbox.uploadReport(),
  },
  'lab_report.parsing_job.updated': {
    tells: 'upload a lab report of one page, and have it parsed',
    finalStatus: 'completed',
    run: (sandbox) => sandbox.uploadReport(),
  },
  ...healthScenarios,
}

/** Why the other types cannot be caused, by type. */
export const reasonsNotTriggerable: Record<string, string> = {
  'message.attempt.failing': 'a receiver of the team causes it by failing four times, in about half an hour; no feed has it',
  'message.attempt.exhausted': 'a receiver of the team causes it by failing at each attempt, for more than a day; no feed has it',
  'message.attempt.recovered':
    'a receiver of the team causes it by accepting an event after message.attempt.failing; no feed has it',
  'endpoint.disabled': 'a receiver of the team causes it by answering 410, or by failing for five days; no feed has it',
}
