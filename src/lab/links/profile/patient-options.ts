import { ethnicities, genders, races } from '../../../people/person/patient.ts'
import { Choice, FieldNames, Flag, Line, OptionGroup, WordMap } from './option-types.ts'

export const PatientOptions = OptionGroup(
  {
    id: Choice(['user_id', 'client_user_id'], 'user_id', 'Patient id in messages to the laboratory.'),
    id_fields: FieldNames('Fields that contain the patient id.', ['PID-3']),
    id_type: Line('PID-3.5, of table 0203.', 'PI'),
    id_authority: Line('PID-3.4.', ''),
    name_case: Choice(['unchanged', 'upper'], 'unchanged', 'Case of names.'),
    sex_codes: WordMap(genders, 'PID-8 by the gender of the patient.', { female: 'F', male: 'M', other: 'O', unknown: 'U' }),
    race_codes: WordMap(races, 'PID-10 by the race of the patient. A race that is not listed is left out.'),
    ethnicity_codes: WordMap(
      ethnicities,
      'PID-22 by the ethnicity of the patient, from version 2.3 on. An ethnicity that is not listed is left out.',
    ),
    phone: Choice(
      ['e164', 'us', 'digits'],
      'e164',
      'Form of telephone numbers: `+15555550100`, `(555)555-0100` or `5555550100`. A number that is not of North America has its country code: `+4722334455`, as digits `4722334455`.',
    ),
    has_email: Flag(true, 'Sends the e-mail address of the patient after the telephone number, from version 2.3 on.'),
    has_address: Flag(true, 'Sends the address of the patient.'),
  },
  'The patient in messages to the laboratory.',
)
