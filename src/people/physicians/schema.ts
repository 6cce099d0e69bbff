// Shapes of a team's physicians. Source: lab-testing.md 4, 5.4; openapi-0.4.687.json, ClientFacingPhysician.
import { teamInEnvironment } from '../../tenancy/organizations/management-shapes.ts'
import { Fields, Maybe, OpenEnum, T, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { Npi } from '../person/contact-fields.ts'
import { PersonName } from '../person/patient.ts'
import { usStates } from '../person/countries.ts'

const physician = { first_name: T.String(), last_name: T.String(), npi: T.String() }
/** A physician in an order. */
export const Physician = Fields(physician, { title: 'Physician' })
export type Physician = Static<typeof Physician>

const State = OpenEnum(usStates)

export const TeamPhysician = Fields(
  {
    id: Uuid,
    ...physician,
    states: T.Array(T.String(), { description: 'US states the physician orders in; empty: every one.' }),
    created_at: Timestamp,
  },
  { title: 'TeamPhysician' },
)
export type TeamPhysician = Static<typeof TeamPhysician>

export const TeamPhysicians = Fields({ physicians: T.Array(TeamPhysician) }, { title: 'TeamPhysicians' })

export const AddPhysician = Fields(
  {
    first_name: PersonName,
    last_name: PersonName,
    npi: Npi,
    states: Maybe(
      T.Array(State, { maxItems: 100, description: 'US states the physician orders in; absent or empty: every one.' }),
    ),
  },
  { title: 'AddPhysician' },
)
export type AddPhysician = Static<typeof AddPhysician>

export const TeamScopeParams = Fields(teamInEnvironment)
export const PhysicianScopeParams = Fields({ ...teamInEnvironment, physician_id: Uuid })
