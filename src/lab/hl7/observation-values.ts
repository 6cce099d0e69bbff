// Values of observations (OBX-5) by their type (OBX-2), as the laboratory wrote them. Source: HL7 version 2.5.1, 2.A, 7.4.2. Pure.
import type { Observation } from '../links/link-message.ts'
import type { Hl7Segment } from './hl7-message.ts'

const VALUE = 5

type ObservationValue = Pick<Observation, 'value' | 'value_kind'>

/** The value of an observation that is no document; several values of one are lines. Empty: it has none. */
export function readObservationValue(segment: Hl7Segment): ObservationValue {
  const read = READERS[segment.get(2)]
  if (!read) return toValue(segment.texts(VALUE))
  return toValue(segment.repetitions(VALUE).map(read.text), read.kind)
}

function toValue(texts: string[], kind?: 'coded' | 'text'): ObservationValue {
  const value = texts.join('\n').trimEnd()
  return value === '' ? {} : { value, ...(kind && { value_kind: kind }) }
}

interface ValueReader {
  text: (components: string[]) => string
  kind?: 'coded' | 'text'
}

/** The text of a code, else the original text, else the code. */
const coded: ValueReader = {
  text: ([code = '', text = '', , alternateCode = '', alternateText = '', , , , original = '']) =>
    text || original || code || alternateText || alternateCode,
  kind: 'coded',
}

/** Comparator, number, separator or suffix, number: `>^100`, `^1^:^128`, `^2^+`. */
const structuredNumeric: ValueReader = {
  text: ([comparator = '', first = '', separator = '', second = '']) =>
    `${comparator === '=' ? '' : comparator}${first}${separator}${second}`,
}

const timestamp: ValueReader = { text: ([text = '']) => readableTime(text), kind: 'text' }

const READERS: Record<string, ValueReader | undefined> = {
  CE: coded,
  CWE: coded,
  CNE: coded,
  CF: coded,
  SN: structuredNumeric,
  NR: { text: ([low = '', high = '']) => `${low}-${high}` },
  CQ: { text: ([quantity = '', unit = '']) => (unit ? `${quantity} ${unit}` : quantity) },
  DT: timestamp,
  TS: timestamp,
  DTM: timestamp,
  TM: {
    text: ([text = '']) => text.replace(/^(\d{2})(\d{2})(\d{2})?/u, (_, h, m, s) => [h, m, s].filter(Boolean).join(':')),
    kind: 'text',
  },
  DR: { text: ([from = '', to = '']) => [from, to].filter(Boolean).map(readableTime).join(' - '), kind: 'text' },
  EI: { text: ([number = '']) => number, kind: 'text' },
  CX: { text: ([number = '']) => number, kind: 'text' },
}

const TIME = /^(\d{4})(\d{2})?(\d{2})?(?:(\d{2})(\d{2})(\d{2}(?:\.\d+)?)?)?([+-]\d{4})?$/u

/** A time in the precision and the zone that it was written in: `2030-01-02 08:15`. A text that is no time stays. */
function readableTime(text: string): string {
  const [, year, month, day, hour, minute, second, offset] = TIME.exec(text.trim()) ?? []
  if (year === undefined) return text
  const date = [year, month, day].filter(Boolean).join('-')
  const time = [hour, minute, second].filter(Boolean).join(':')
  return [date, time].filter(Boolean).join(' ') + (offset ? ` ${offset}` : '')
}
