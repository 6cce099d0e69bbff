import { Appointment } from '../appointments/schema.ts'
import { managementOperation, noContent, type Operation } from '../platform/operation.ts'
import { listVisits, setDate, setProgress } from './dating.ts'
import { SetDate, SetProgress, VisitParams, Visits, VisitsParams } from './schema.ts'
import { listStaff, putStaff, removeStaff } from './staff.ts'
import { staffExample, StaffInput, StaffList, StaffParams, StaffPlace, StaffReply } from './staff-schema.ts'

/** Operations of our own: who visits patients, and what they say of visits. */
export const staffRoutes: Operation[] = [
  managementOperation({
    id: 'list_phlebotomists',
    method: 'GET',
    path: '/v1/org/{org_id}/phlebotomist/{env}/{region}',
    place: 'cell',
    reach: 'org',
    summary: "List the organization's phlebotomists and teams of them, by reference",
    params: StaffPlace,
    reply: StaffList,
    run: async (tx, { manager }) => ({ data: await listStaff(tx, manager.org) }),
  }),
  managementOperation({
    id: 'upsert_phlebotomist',
    method: 'PUT',
    path: '/v1/org/{org_id}/phlebotomist/{env}/{region}/{reference}',
    place: 'cell',
    reach: 'org',
    summary: 'Add a phlebotomist or a team, or replace all that was said of it',
    description: 'Visits that are booked stay as they are.',
    params: StaffParams,
    body: StaffInput,
    reply: StaffReply,
    example: staffExample,
    run: async (tx, { manager, params, body }) => ({
      phlebotomist: await putStaff(tx, manager.org, params.reference, body),
    }),
  }),
  managementOperation({
    id: 'delete_phlebotomist',
    method: 'DELETE',
    path: '/v1/org/{org_id}/phlebotomist/{env}/{region}/{reference}',
    place: 'cell',
    reach: 'org',
    summary: 'Take a phlebotomist or a team away',
    description: 'Refused while visits are to come; one that is not active is offered no more.',
    params: StaffParams,
    reply: noContent,
    run: (tx, { manager, params }) => removeStaff(tx, manager.org, params.reference),
  }),
  managementOperation({
    id: 'list_visits',
    method: 'GET',
    path: '/v1/org/{org_id}/team/{team_id}/{environment}/visit',
    place: 'team',
    reach: 'bound',
    reveals: true,
    summary: "List the team's visits at home that are to come or go on",
    description: 'Those without a date first. With what those who come are told: name, telephone number, address and notes.',
    params: VisitsParams,
    reply: Visits,
    run: (tx) => listVisits(tx),
  }),
  managementOperation({
    id: 'set_visit_date',
    method: 'PUT',
    path: '/v1/org/{org_id}/team/{team_id}/{environment}/visit/{order_id}/date',
    place: 'team',
    reach: 'bound',
    summary: 'Say when somebody comes to a patient who asked for a visit',
    description: 'Again for another date. A phlebotomist who is named is not offered for the time.',
    params: VisitParams,
    body: SetDate,
    reply: Appointment,
    example: { start_at: '2100-01-29T15:00:00Z', end_at: '2100-01-29T17:00:00Z' },
    run: (tx, { params, body }) => setDate(tx, params.order_id, body),
  }),
  managementOperation({
    id: 'set_visit_progress',
    method: 'PUT',
    path: '/v1/org/{org_id}/team/{team_id}/{environment}/visit/{order_id}/progress',
    place: 'team',
    reach: 'bound',
    summary: 'Say that somebody is with the patient, or that the blood is drawn',
    params: VisitParams,
    body: SetProgress,
    reply: Appointment,
    example: { status: 'completed' },
    run: (tx, { params, body }) => setProgress(tx, params.order_id, body),
  }),
]
