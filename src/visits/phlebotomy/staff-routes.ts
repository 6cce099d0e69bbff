import { Appointment } from '../appointments/schema.ts'
import { managementOperation, noContent, type Operation } from '../../platform/http/operation.ts'
import { listVisits, setVisitDate, setVisitProgress } from './visit-progress.ts'
import { SetVisitDate, SetVisitProgress, VisitParams, Visits, VisitsParams } from './schema.ts'
import { listStaff, putStaff, removeStaff } from './staff.ts'
import { staffExample, StaffInput, StaffList, StaffParams, StaffScopeParams, StaffReply } from './staff-schema.ts'

const ofCell = { logsAccess: false, scope: 'cell', keyScope: 'org' } as const
const ofTeam = { logsAccess: true, scope: 'team', keyScope: 'bound' } as const

/** Operations of Drawbridge's own: phlebotomists, and the progress of visits. */
export const staffRoutes: Operation[] = [
  managementOperation({
    ...ofCell,
    id: 'list_phlebotomists',
    method: 'GET',
    path: '/v1/org/{org_id}/phlebotomist/{env}/{region}',
    summary: 'List phlebotomists',
    params: StaffScopeParams,
    reply: StaffList,
    run: async (tx, { manager }) => ({ data: await listStaff(tx, manager.org) }),
  }),
  managementOperation({
    ...ofCell,
    id: 'upsert_phlebotomist',
    method: 'PUT',
    path: '/v1/org/{org_id}/phlebotomist/{env}/{region}/{reference}',
    summary: 'Create or replace a phlebotomist',
    description: 'Booked visits do not change.',
    params: StaffParams,
    body: StaffInput,
    reply: StaffReply,
    example: staffExample,
    run: async (tx, { manager, params, body }) => ({
      phlebotomist: await putStaff(tx, manager.org, params.reference, body),
    }),
  }),
  managementOperation({
    ...ofCell,
    id: 'delete_phlebotomist',
    method: 'DELETE',
    path: '/v1/org/{org_id}/phlebotomist/{env}/{region}/{reference}',
    summary: 'Delete a phlebotomist',
    description: 'Rejected while the phlebotomist has upcoming visits; an inactive phlebotomist gets no new ones.',
    params: StaffParams,
    reply: noContent,
    run: (tx, { manager, params }) => removeStaff(tx, manager.org, params.reference),
  }),
  managementOperation({
    ...ofTeam,
    id: 'list_visits',
    method: 'GET',
    path: '/v1/org/{org_id}/team/{team_id}/{environment}/visit',
    auditsRead: true,
    summary: 'List upcoming at-home appointments',
    description:
      'Visits without a date first. Includes the details for the phlebotomist: name, telephone number, address and notes.',
    params: VisitsParams,
    reply: Visits,
    run: (tx) => listVisits(tx),
  }),
  managementOperation({
    ...ofTeam,
    id: 'set_visit_date',
    method: 'PUT',
    path: '/v1/org/{org_id}/team/{team_id}/{environment}/visit/{order_id}/date',
    summary: 'Schedule a requested at-home appointment',
    description: 'Repeat it to change the date. The time is blocked for a named phlebotomist.',
    params: VisitParams,
    body: SetVisitDate,
    reply: Appointment,
    example: { start_at: '2100-01-29T15:00:00Z', end_at: '2100-01-29T17:00:00Z' },
    run: (tx, { params, body }) => setVisitDate(tx, params.order_id, body),
  }),
  managementOperation({
    ...ofTeam,
    id: 'set_visit_progress',
    method: 'PUT',
    path: '/v1/org/{org_id}/team/{team_id}/{environment}/visit/{order_id}/progress',
    summary: 'Update the progress of an at-home appointment',
    params: VisitParams,
    body: SetVisitProgress,
    reply: Appointment,
    example: { status: 'completed' },
    run: (tx, { params, body }) => setVisitProgress(tx, params.order_id, body),
  }),
]
