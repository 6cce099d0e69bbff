// Building blocks of wire shapes. A shape is a TypeBox value; from it come the static type, the reading of requests
// (read.ts), the check of rows and replies in tests, and the published description (platform/http/openapi.ts).
import { Type as T, type Static, type TObjectOptions, type TProperties, type TSchema, type TUnsafe } from 'typebox'
import type { Dependent, FinalizeObject, Rule } from './read.ts'

export { T, type Static, type TSchema }

export const Uuid = T.String({ format: 'uuid' })
/** `YYYY-MM-DD`. A request may carry an exact date-time; its date is kept. */
export const DateOnly = T.String({ format: 'date' })
/** As `DateOnly`; of a date-time whatever its time of day the date is kept. Source: lab-testing.md 5.1. */
export const DateOfBirth = T.String({ format: 'date', readAs: 'date-of-birth' })
/** An instant. In: any ISO 8601 form, a missing offset means UTC. Out: `YYYY-MM-DDTHH:MM:SS+00:00`. */
export const Timestamp = T.String({ format: 'date-time' })
export const Email = T.String({ format: 'email', maxLength: 254 })
/** An IANA zone name; a bare `UTC` is not one (`Etc/UTC` is). */
export const TimeZone = T.String({ format: 'iana-time-zone' })

export const Nullable = <S extends TSchema>(schema: S) => T.Union([schema, T.Null()])

/** A field that may be absent or null; both mean "not given" and are read as absent. */
export const Maybe = <S extends TSchema>(schema: S) => T.Optional(schema)

/** A field that a caller may clear: absent leaves, null clears. */
export const Clearable = <S extends TSchema>(schema: S) => T.Optional(Nullable(schema))

/**
 * A non-exhaustive enumeration: only listed values are accepted in requests, in any letter case, and read as listed.
 * Replies are not held to the list.
 */
export const OpenEnum = <const V extends string>(values: readonly V[], options: Record<string, unknown> = {}): TUnsafe<V> =>
  T.Unsafe<V>({ type: 'string', enum: [...values], ...options })

/** Text that a rule beyond JSON Schema normalises or refuses. `rule` sees a string that already satisfies the schema. */
export const Text = (
  options: {
    minLength?: number
    maxLength?: number
    pattern?: string
    /** What the pattern asks, so that "String should " can stand before it. */
    says?: string
    description?: string
    /** What an absent field is read as. */
    default?: string
    /** Of a parameter: what the API page proposes. */
    example?: string
    rule?: Rule
  } = {},
) => T.String(options)

/** A whole number that fits a PostgreSQL `integer`, unless narrower bounds are given. */
export const Int = (
  options: { minimum?: number; maximum?: number; default?: number; description?: string; example?: number } = {},
) => T.Integer({ minimum: -2147483648, maximum: 2147483647, ...options })

interface FieldsOptions {
  title?: string
  description?: string
  /** Other spellings that requests may use for a field. */
  aliases?: Record<string, string>
  /** What remains to be checked or normalised when every field is sound. */
  finish?: FinalizeObject
  dependent?: Dependent
  /** The shape that takes its place in bodies of cells outside the United States. */
  abroad?: TSchema
  additionalProperties?: boolean
}

/** An object. */
export const Fields = <P extends TProperties>(properties: P, options: FieldsOptions = {}) =>
  T.Object(properties, options as TObjectOptions)

/** One of several objects that a literal field tells apart. A request is held to the one that it says it is. */
export const OneOf = <const B extends TSchema[]>(
  discriminator: string,
  branches: [...B],
  options: { title?: string; description?: string } = {},
) => T.Union(branches, { ...options, discriminator })
