import { RuleError, type Rule } from '../../../platform/schema/request-validation.ts'
import { billingTypes } from '../../catalog/enums.ts'
import {
  Choice,
  FieldName,
  FieldNames,
  Flag,
  Line,
  Lines,
  namesOrderField,
  OptionGroup,
  TextMap,
  WordMap,
} from './option-types.ts'

/** Fields of the header without which a message is not ours, or not this one. */
const FIXED_HEADER_FIELD = /^MSH-(?:1|2|7|9|10|11|12|18)(?:\.|$)/u

const namesConstantField: Rule = (name) =>
  FIXED_HEADER_FIELD.test(name) ? new RuleError(`${name} cannot have a constant`) : namesOrderField(name)

/** What the catalog and kits that come with Drawbridge have. An imported catalog may have others. */
const specimens = {
  serum: 'SER',
  whole_blood: 'BLD',
  capillary_blood: 'BLDC',
  urine: 'UR',
  saliva: 'SAL',
  stool: 'STL',
}
const specimenNames = [...Object.keys(specimens), 'dried_blood_spot', 'arm_collector']

/** Rejects another spelling of a known name. */
const namesSpecimen: Rule = (name) => {
  const spelling = name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/gu, '_')
  return name === '' || (name !== spelling && specimenNames.includes(spelling))
    ? new RuleError(`must be a specimen as the catalog names it, such as ${specimenNames.join(', ')}`)
    : name
}

export const OrderContentOptions = OptionGroup(
  {
    message: Choice(['OML', 'ORM'], 'OML', 'Orders go as `OML^O21` or as `ORM^O01`.'),
    messages_per: Choice(['order', 'specimen'], 'order', 'One message for an order, or for each of its specimens.'),
    test_code: Choice(
      ['first', 'fourth'],
      'first',
      'Place of our code of a test in OBR-4: `code^name^system` or `^^^code^name^system`.',
    ),
    coding_system: Line('Coding system of tests.', 'L'),
    answers: Choice(
      ['obx', 'nte', 'zse'],
      'obx',
      'Segments for answers to questions of the laboratory, after the OBR of their test.',
    ),
    diagnoses: Choice(['order', 'test', 'none'], 'order', 'DG1 segments once in an order, after each test, or none.'),
    diagnosis_system: Line('DG1-3.3.', 'I10C'),
    insurance: Choice(
      ['billed', 'always', 'none'],
      'billed',
      'IN1 segments for orders billed to insurance, for each order, or none.',
    ),
    guarantor: Choice(
      ['billed', 'always', 'none'],
      'billed',
      'GT1 segments unless the client is billed, for each order, or none.',
    ),
    billing_field: FieldName('Field for the billing type.', 'IN1-47'),
    billing_values: WordMap(billingTypes, 'Value of the field by the billing type of the order.', {
      client_bill: 'C',
      patient_bill: 'P',
      commercial_insurance: 'T',
    }),
    abn_field: FieldName('Field for the advance beneficiary notice.', 'ORC-20'),
    abn_values: WordMap(
      ['signed', 'not_needed'],
      'Value of the field by whether a notice is signed. A value that is absent or empty leaves the field out.',
    ),
    priority_field: Choice(['OBR-5', 'OBR-27', 'TQ1'], 'TQ1', 'Place of the priority.'),
    priority_values: WordMap(['priority', 'routine'], 'Priority codes. A code that is absent or empty leaves the field out.', {
      priority: 'S',
      routine: 'R',
    }),
    fasting_field: FieldName('Field for whether the patient fasted.', 'OBR-13'),
    fasting_values: WordMap(
      ['yes', 'no'],
      'Value of the field by whether the patient fasted. A value that is absent or empty leaves the field out.',
    ),
    notes: Choice(['OBR', 'PID', 'none'], 'OBR', 'Segment after which clinical notes follow as NTE segments, or none.'),
    collection_center_field: FieldName('Field that says that a collection center takes the sample.', 'OBR-11'),
    collection_center_value: Line('Value of the field. Empty: the field is left out.', ''),
    specimen: Choice(['SPM', 'OBR-15'], 'SPM', 'Place of the specimen.'),
    specimen_codes: TextMap(
      `Code of a specimen, of table 0487 or 0070. A specimen that is not listed is written as text. Names: those of the catalog, such as ${specimenNames.map((name) => `\`${name}\``).join(', ')}.`,
      { standard: specimens, nameRule: namesSpecimen },
    ),
    account_fields: FieldNames('Fields for the number of the account at the laboratory.', ['ORC-21.10']),
    account_name_fields: FieldNames('Fields for the name of the account.', ['ORC-21']),
    physician_id: Choice(['npi', 'none'], 'npi', 'Id of the physician in ORC-12 and OBR-16.'),
    copies: Choice(['OBR-28', 'none'], 'none', 'Place of the recipients of copies.'),
    copy_recipients: Lines('Recipients of copies of each result, each as `id^last^first`.'),
    sends: Choice(['placed', 'collected'], 'placed', 'When an order is sent whose sample is drawn: at once, or after the draw.'),
    kits: Choice(
      ['laboratory', 'staff'],
      'laboratory',
      'Who sends kits to patients. The order of a kit is sent when its patient is known; with `staff`, after staff have assigned a kit.',
    ),
    sends_changes: Flag(false, 'Sends the time of the draw as a change (`XO`) of an order that was sent before the draw.'),
    cancels: Choice(
      ['confirmed', 'acknowledged', 'at_once'],
      'confirmed',
      'When an order that the laboratory may have is cancelled: when the laboratory confirms it with `CR`, when it accepts the message, or at once.',
    ),
    constants: TextMap(
      'Further fields with a constant text, such as `{"ZOR-1": "WEB"}`. Names: fields of orders, but not MSH-1, MSH-2, MSH-7, MSH-9 to MSH-12 and MSH-18.',
      { nameRule: namesConstantField },
    ),
  },
  'What orders to the laboratory contain.',
)
