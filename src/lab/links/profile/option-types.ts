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

/** A map from one text to another. */
export const TextMap = (description: string, standard: Record<string, string> = {}) =>
  T.Record(T.String(), Text({ maxLength: FIELD_LENGTH_MAX, rule: isOneLine }), { default: standard, description })

/** A password or a private key: stored encrypted, apart from the profile, and shown as a mask. */
export const Secret = (description: string) =>
  T.Optional(T.String({ minLength: 1, maxLength: 20_000, isSecret: true, description: `${description} Secret.` }))
