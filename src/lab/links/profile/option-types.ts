// Building blocks of the options of a link's profile. Each option has a description. An option is required if it has neither a default nor
// `Maybe`.
import { Fields, OpenEnum, T, Text } from '../../../platform/schema/schema.ts'
import { RuleError, type Rule } from '../../../platform/schema/request-validation.ts'
import type { TProperties } from 'typebox'

/** A group of options, or a part of one. The profile rejects names that are not options. */
export const OptionGroup = <P extends TProperties>(properties: P, description: string) =>
  Fields(properties, { description, additionalProperties: false })

export const Choice = <const V extends string>(values: readonly V[], standard: NoInfer<V>, description: string) =>
  OpenEnum(values, { default: standard, description })

export const Flag = (standard: boolean, description: string) => T.Boolean({ default: standard, description })

/** Whole numbers from `minimum` to `maximum`. */
export const Count = (standard: number, [minimum, maximum]: [number, number], description: string) =>
  T.Integer({ minimum, maximum, default: standard, description })

/** The limit of texts that are written to a field. */
const FIELD_LENGTH_MAX = 200

/** A separator within would change the meaning of the message. */
const isOneLine: Rule = (text) => (/[\p{Cc}]/u.test(text) ? new RuleError('must not contain control characters') : text)

/** A short text without control characters. */
export const Line = (description: string, standard?: string) =>
  Text({ maxLength: FIELD_LENGTH_MAX, rule: isOneLine, description, ...(standard !== undefined && { default: standard }) })

export const Lines = (description: string, standard: string[] = []) =>
  T.Array(Text({ minLength: 1, maxLength: FIELD_LENGTH_MAX, rule: isOneLine }), {
    maxItems: 200,
    default: standard,
    description,
  })

/** `PID-3`, or with the number of a component `PID-5.1`. */
const FIELD_NAME = '^[A-Z][A-Z0-9]{2}-[1-9][0-9]?(\\.[1-9][0-9]?)?$'

const fieldNameOptions = { pattern: FIELD_NAME, says: 'name a field, such as PID-3 or PID-5.1' }

export const FieldName = (description: string, standard?: string) =>
  Text({ ...fieldNameOptions, description, ...(standard !== undefined && { default: standard }) })

export const FieldNames = (description: string, standard: string[]) =>
  T.Array(Text(fieldNameOptions), { maxItems: 30, default: standard, description })

/** The segments that orders may have, besides those whose names begin with Z. */
const ORDER_SEGMENTS =
  'MSH SFT NTE PID PD1 NK1 PV1 PV2 IN1 IN2 IN3 GT1 AL1 ORC TQ1 TQ2 OBR CTD DG1 OBX SPM SAC FT1 CTI BLG PRT ROL'.split(' ')

/** Accepts the name of a field that an order may have. */
export const namesOrderField: Rule = (name) =>
  new RegExp(FIELD_NAME, 'u').test(name) && (name.startsWith('Z') || ORDER_SEGMENTS.includes(name.slice(0, 3)))
    ? name
    : new RuleError(
        `must name a field of an order, such as PID-3 or PID-5.1, of the segments ${ORDER_SEGMENTS.join(', ')} or one that begins with Z`,
      )

/** Accepts every name that is not empty. */
export const namesAny: Rule = (name) => (name === '' ? new RuleError('must have a name that is not empty') : name)

const MappedText = Text({ maxLength: FIELD_LENGTH_MAX, rule: isOneLine })

/** A map from one text to another. */
export const TextMap = (
  description: string,
  { standard = {}, nameRule = namesAny }: { standard?: Record<string, string>; nameRule?: Rule } = {},
) => T.Record(T.String(), MappedText, { default: standard, description, nameRule })

/** A map from words of Drawbridge to texts of the laboratory. Other words have no meaning, so the profile rejects them. */
export const WordMap = <const W extends string>(
  words: readonly W[],
  description: string,
  standard: NoInfer<Partial<Record<W, string>>> = {},
) =>
  TextMap(`${description} Names: ${words.map((word) => `\`${word}\``).join(', ')}.`, {
    standard: standard as Record<string, string>,
    nameRule: (name) =>
      (words as readonly string[]).includes(name) ? name : new RuleError(`must be one of ${words.join(', ')}`),
  })

/** A password or a private key: stored encrypted, apart from the profile, and shown as a mask. */
export const Secret = (description: string) =>
  T.Optional(T.String({ minLength: 1, maxLength: 20_000, isSecret: true, description: `${description} Secret.` }))
