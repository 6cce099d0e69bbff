// Names of segments and of their fields, as HL7 version 2.5.1 has them, for people who read messages. Only what links use. No reader depends on it.

interface SegmentName {
  name: string
  /** From the first field on; `''` for a field whose name says nothing here. */
  fields: readonly string[]
}

const words = (text: string): readonly string[] => text.split('; ')

/** By the id of the segment. */
export const segmentNames: Record<string, SegmentName | undefined> = {
  MSH: {
    name: 'Message header',
    fields: words(
      'Field separator; Encoding characters; Sending application; Sending facility; Receiving application; Receiving facility; Time of message; Security; Message type; Control id; Processing id; Version; Sequence number; Continuation pointer; Accept acknowledgment; Application acknowledgment; Country; Character set; Language; Character set handling; Profile',
    ),
  },
  FHS: {
    name: 'File header',
    fields: words(
      'Field separator; Encoding characters; Sending application; Sending facility; Receiving application; Receiving facility; Time of file; Security; File name; Comment; Control id; Reference control id',
    ),
  },
  BHS: {
    name: 'Batch header',
    fields: words(
      'Field separator; Encoding characters; Sending application; Sending facility; Receiving application; Receiving facility; Time of batch; Security; Batch name; Comment; Control id; Reference control id',
    ),
  },
  BTS: { name: 'Batch trailer', fields: words('Number of messages; Comment; Totals') },
  FTS: { name: 'File trailer', fields: words('Number of batches; Comment') },
  MSA: {
    name: 'Acknowledgment',
    fields: words('Code; Control id of the answered message; Text; Expected sequence number; ; Error condition'),
  },
  ERR: {
    name: 'Error',
    fields: words(
      'Code and location; Location; Code; Severity; Application code; Parameter; Diagnostic information; User message; Inform person; Override type; Override reason; Help',
    ),
  },
  PID: {
    name: 'Patient',
    fields: words(
      'Set id; Patient id; Patient identifiers; Alternate patient id; Name; Name of mother; Date of birth; Sex; Alias; Race; Address; County; Phone at home; Phone at work; Language; Marital status; Religion; Account number; Social security number; Driver license; Identifier of mother; Ethnic group',
    ),
  },
  PV1: {
    name: 'Visit',
    fields: words(
      'Set id; Patient class; Location; Admission type; Preadmit number; Prior location; Attending doctor; Referring doctor; Consulting doctor',
    ),
  },
  NTE: { name: 'Comment', fields: words('Set id; Source; Comment; Type') },
  ORC: {
    name: 'Order',
    fields: words(
      'Control; Placer number; Filler number; Placer group number; Status; Response flag; Quantity and timing; Parent; Time of transaction; Entered by; Verified by; Ordering provider; Location of entry; Callback phone; Effective time; Reason; Entering organization; Entering device; Action by; Advance beneficiary notice; Ordering facility; Address of facility; Phone of facility; Address of provider',
    ),
  },
  OBR: {
    name: 'Ordered test',
    fields: words(
      'Set id; Placer number; Filler number; Test; Priority; Requested time; Time of collection; End of collection; Volume; Collector; Specimen action; Danger; Clinical information; Specimen received; Specimen source; Ordering provider; Callback phone; Placer field 1; Placer field 2; Filler field 1; Filler field 2; Time of report; Charge; Diagnostic service; Status; Parent result; Quantity and timing; Copies to; Parent; Transport; Reason; Interpreter',
    ),
  },
  OBX: {
    name: 'Observation',
    fields: words(
      'Set id; Type of value; Observation; Sub-id; Value; Unit; Reference range; Flag; Probability; Nature of range; Status; Effective date of range; Access checks; Time of observation; Producer; Observer; Method; Equipment; Time of analysis; ; ; ; Performing organization; Address of organization; Medical director; ; ; ; Observation type',
    ),
  },
  SPM: {
    name: 'Specimen',
    fields: words(
      'Set id; Specimen id; Parent ids; Type; Type modifier; Additives; Collection method; Source site; Site modifier; Collection site; Role; Amount; Grouped count; Description; Handling; Risk; Time of collection; Time received; Expiration; Availability; Reject reason; Quality; Appropriateness; Condition; Current quantity; Containers; Container type; Container condition; Child role; Accession id',
    ),
  },
  SAC: {
    name: 'Container',
    fields: words(
      'External accession id; Accession id; Container id; Primary container id; Equipment container id; Specimen source',
    ),
  },
  TQ1: {
    name: 'Timing and priority',
    fields: words('Set id; Quantity; Repeat pattern; Explicit time; Relative time; Service duration; Start; End; Priority'),
  },
  DG1: { name: 'Diagnosis', fields: words('Set id; Coding method; Diagnosis; Description; Time; Type') },
  IN1: {
    name: 'Insurance',
    fields: words(
      'Set id; Plan; Company id; Company; Address; Contact; Phone; Group number; Group name; Employer id; Employer; Start; End; Authorization; Plan type; Insured person; Relationship; Date of birth; Address of insured person',
    ),
  },
  GT1: {
    name: 'Guarantor',
    fields: words('Set id; Number; Name; Spouse; Address; Phone at home; Phone at work; Date of birth; Sex; Type; Relationship'),
  },
  ZPS: { name: 'Performing site', fields: words('Set id; Code; Name; Address; Phone; Contact; Director') },
  ZEF: { name: 'Embedded document', fields: words('Set id; Content') },
}
