// The segments of the patient and of who pays: PID, NK1, IN1, GT1. Source: HL7 version 2.5.1, chapters 3 and 6. Pure.
import type { RequisitionContent } from '../documents/requisition-content.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { isVersionFrom, toAddress, toContacts, toDay, toName, toPhone } from './order-fields.ts'
import { placeOfField, SegmentBuilder } from './segment-builder.ts'
import { Unsendable } from './unsendable.ts'

/** PID. Errors: Unsendable the patient is not known. */
export function patientSegment(
  profile: LinkProfile,
  { patient, address }: RequisitionContent,
  patient_id: string,
): SegmentBuilder {
  if (!patient) throw new Unsendable(['The patient is not known'])
  const options = profile.patient
  const segment = new SegmentBuilder('PID', {
    1: '1',
    5: toName(profile, patient),
    7: toDay(patient.dob),
    8: options.sex_codes[patient.gender],
    10: patient.race === null ? null : options.race_codes[patient.race],
    22: patient.ethnicity === null || !isVersionFrom(profile, '2.3') ? null : options.ethnicity_codes[patient.ethnicity],
    11: address && options.has_address ? toAddress(address) : null,
  })
  for (const contact of toContacts(profile, patient.phone_number, patient.email)) segment.add(13, contact)
  for (const name of options.id_fields) {
    const place = placeOfField(name)
    if (place.segment !== 'PID') throw new Unsendable([`patient.id_fields: ${name} is not a field of PID`])
    if (place.field === 3 && place.component === 1) segment.add(3, [patient_id, '', '', options.id_authority, options.id_type])
    else segment.setText(place.field, place.component, patient_id)
  }
  return segment
}

/** NK1 with the parent or guardian of a minor. Order messages of type ORM have no place for it. */
export function guardianSegments(profile: LinkProfile, { patient }: RequisitionContent): SegmentBuilder[] {
  const proxy = patient?.medical_proxy
  if (!proxy || profile.order_content.message === 'ORM') return []
  const segment = new SegmentBuilder('NK1', {
    1: '1',
    2: toName(profile, proxy),
    3: ['GRD', 'Guardian', 'HL70063'],
    4: toAddress(proxy.address as Parameters<typeof toAddress>[0]),
  })
  for (const contact of toContacts(profile, proxy.phone_number, proxy.email ?? null)) segment.add(5, contact)
  return [segment]
}

/** Of table 0063. */
const RELATIONSHIPS = {
  Self: ['SEL', 'Self', 'HL70063'],
  Spouse: ['SPO', 'Spouse', 'HL70063'],
  Other: ['OTH', 'Other', 'HL70063'],
}

/** IN1 and GT1, as far as the profile sends them for the billing type of the order. */
export function payerSegments(profile: LinkProfile, content: RequisitionContent): SegmentBuilder[] {
  const { insurance, guarantor } = profile.order_content
  const isInsured = content.order.billing === 'commercial_insurance'
  const isClientBilled = content.order.billing === 'client_bill' || content.order.billing === 'patient_bill_passthrough'
  return [
    ...(insurance === 'always' || (insurance === 'billed' && isInsured) ? insuranceSegments(profile, content) : []),
    ...(guarantor === 'always' || (guarantor === 'billed' && !isClientBilled) ? guarantorSegments(profile, content) : []),
  ]
}

function insuranceSegments(profile: LinkProfile, { insurance }: RequisitionContent): SegmentBuilder[] {
  if (!insurance) return []
  const { insured, company } = insurance
  return [
    new SegmentBuilder('IN1', {
      1: '1',
      2: insurance.payor_code,
      3: insurance.payor_code,
      4: company.name,
      5: toAddress(company.address),
      8: insurance.group_id,
      16: toName(profile, insured),
      17: isVersionFrom(profile, '2.3') ? RELATIONSHIPS[insurance.relationship] : RELATIONSHIPS[insurance.relationship][0]!,
      18: toDay(insured.dob),
      19: toAddress(insured.address),
      36: insurance.member_id,
      43: profile.patient.sex_codes[insured.gender],
    }),
  ]
}

/** The guarantor of the insurance, else the guardian of the patient, else the patient. */
function guarantorSegments(profile: LinkProfile, { insurance, patient, address }: RequisitionContent): SegmentBuilder[] {
  const other = insurance?.guarantor ?? patient?.medical_proxy
  const person = other ?? patient
  if (!person) return []
  const home = other ? other.address : address
  const relationship = RELATIONSHIPS[other ? 'Other' : 'Self']
  return [
    new SegmentBuilder('GT1', {
      1: '1',
      3: toName(profile, person),
      5: home && toAddress(home as Parameters<typeof toAddress>[0]),
      6: person.phone_number && toPhone(profile, person.phone_number),
      11: isVersionFrom(profile, '2.3') ? relationship : relationship[0]!,
    }),
  ]
}
