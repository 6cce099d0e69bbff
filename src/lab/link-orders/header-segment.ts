// What every message to a laboratory has by the profile of its link: the header, and texts in the letters and delimiters of the profile. Pure.
import { encodeText } from '../hl7/charsets.ts'
import { STANDARD_DELIMITERS, type Delimiters } from '../hl7/escapes.ts'
import { writeSegments, type Hl7Fields } from '../hl7/writer.ts'
import { writeLinkTime } from '../links/link-texts.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { prepareTexts } from './message-texts.ts'
import { isVersionFrom } from './order-fields.ts'
import { SegmentBuilder, type FieldValue } from './segment-builder.ts'

interface HeaderValues {
  /** MSH-9.1 and MSH-9.2. */
  code: string
  trigger: string
  control_id: string
  /** `T`: a test. */
  processing_id: 'P' | 'T'
  now: Date
}

/** MSH. */
export function headerSegment(
  profile: LinkProfile,
  { code, trigger, control_id, processing_id, now }: HeaderValues,
): SegmentBuilder {
  const { identity, acknowledgment, text } = profile
  const segment = new SegmentBuilder('MSH', {
    3: splitHd(identity.our_application),
    4: splitHd(identity.our_facility),
    5: splitHd(identity.laboratory_application),
    6: splitHd(identity.laboratory_facility),
    7: writeLinkTime(now, text),
    9: [code, trigger, isVersionFrom(profile, '2.3.1') ? `${code}_${trigger}` : ''],
    10: control_id,
    11: processing_id,
    12: identity.version,
    15: acknowledgment.accept_condition,
    16: acknowledgment.application_condition,
    18: isDeclared(profile) ? text.sent_charset : null,
  })
  for (const id of identity.profile_ids) segment.add(21, splitHd(id))
  return segment
}

/** ASCII needs no name, and windows-1252 has none in table 0211. Versions before 2.3 have no MSH-18. */
const isDeclared = (profile: LinkProfile): boolean =>
  !['ASCII', 'windows-1252'].includes(profile.text.sent_charset) && isVersionFrom(profile, '2.3')

/** The profile writes names and constants with the standard delimiters: `name^id^ISO`. */
const splitHd = (text: string): FieldValue => text.split('^').map((component) => component.split('&'))

/** The bytes of a message. Changes its texts. Errors: Unsendable a text does not fit. */
export function writeBytes(segments: readonly SegmentBuilder[], profile: LinkProfile): Buffer {
  prepareTexts(segments, profile)
  return encodeText(writeSegments(segments.map(toWritten), toDelimiters(profile)), profile.text.sent_charset)
}

/** The writer adds the delimiters of the header. */
const toWritten = ({ id, fields }: SegmentBuilder): Hl7Fields => [
  id,
  ...fields.slice(id === 'MSH' ? 2 : 0).map((repetitions) => ({ repetitions })),
]

function toDelimiters({ text: { delimiters } }: LinkProfile): Delimiters {
  const [field, component, repetition, escape, subcomponent] = Array.from(delimiters)
  return {
    ...STANDARD_DELIMITERS,
    field: field!,
    component: component!,
    repetition: repetition!,
    escape: escape!,
    subcomponent: subcomponent!,
  }
}
