// The jobs of a team in the words of those who advance its clock.
import type { StartedJob } from '../../platform/queue/job-runner.ts'
import type { WorkKind } from './schema.ts'

/** What a job is for people; a repeated attempt is that alone. */
export const workKindOf = ({ name, is_retry }: StartedJob): WorkKind => (is_retry ? 'retry' : (kinds[name] ?? 'other'))

const kinds: Record<string, WorkKind> = {
  'simulator.step': 'simulated_step',
  'simulator.wake': 'simulated_step',
  'simulator.run_test_stage': 'simulated_step',
  'phlebotomy.simulate_visit': 'simulated_step',
  'phlebotomy.schedule_visit': 'simulated_step',
  'orders.dispatch': 'order_dispatch',
  'appointments.expire': 'deadline',
  'scheduling.expire_booking': 'deadline',
  'users.erase': 'deadline',
  'users.end_ingestion': 'deadline',
  'demo_data.expire_user': 'deadline',
  'messages.remind': 'reminder',
  'messages.remind_appointment': 'reminder',
  'messages.plan_appointment_reminders': 'reminder',
  'demo_data.write': 'health_data',
  'pulls.poll': 'health_data',
  'pulls.pull_resource': 'health_data',
  'queries.evaluate': 'health_data',
  'queries.start': 'health_data',
}
