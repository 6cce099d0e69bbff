// How FHIR resources name a user: by identifiers, since the ids of the receiving system are not known. Unsourced: the system.
import type { UserIdentity } from './users.ts'

const USER_SYSTEM = 'urn:drawbridge:user'

/** A reference to the user as a patient, with the ids that the receiver may match on. */
export const patientReference = ({ user_id, client_user_id }: UserIdentity) => ({
  type: 'Patient',
  identifier: { system: USER_SYSTEM, value: user_id },
  display: client_user_id,
})
