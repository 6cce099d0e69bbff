import { Choice, FieldName, Flag, Line, OptionGroup, TextMap } from './option-types.ts'

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
    billing_values: TextMap('Value of the field by the billing type of the order.', {
      client_bill: 'C',
      patient_bill: 'P',
      commercial_insurance: 'T',
    }),
    abn_field: FieldName('Field for the advance beneficiary notice.', 'ORC-20'),
    abn_values: TextMap('Value of the field by `signed` and `not_needed`. Empty: the field is left out.'),
    priority_field: Choice(['OBR-5', 'OBR-27', 'TQ1'], 'TQ1', 'Place of the priority.'),
    priority_values: TextMap('Priority codes.', { priority: 'S', routine: 'R' }),
    fasting_field: FieldName('Field for whether the patient fasted.', 'OBR-13'),
    fasting_values: TextMap('Value of the field by `yes` and `no`. Empty: the field is left out.'),
    notes: Flag(true, 'Sends clinical notes as NTE segments.'),
    collection_center_field: FieldName('Field that says that a collection center takes the sample.', 'OBR-11'),
    collection_center_value: Line('Value of the field. Empty: the field is left out.', ''),
    specimen: Choice(['SPM', 'OBR-15'], 'SPM', 'Place of the specimen.'),
    physician_id: Choice(['npi', 'none'], 'npi', 'Id of the physician in ORC-12 and OBR-16.'),
    copies: Choice(['OBR-28', 'none'], 'none', 'Place of the recipients of copies.'),
    constants: TextMap('Further fields with a constant text, such as `{"ZOR-1": "WEB"}`.'),
  },
  'What orders to the laboratory contain.',
)
