// Building blocks of API schemas. A schema is a TypeBox value; from it come the static type, the parsing of requests (request-validation.ts), the check
// of rows and responses in tests, and the OpenAPI document (platform/http/openapi.ts).
import { Type as T, type Static, type TObject, type TObjectOptions, type TProperties, type TSchema, type TUnsafe } from 'typebox'
import { validate, type Dependent, type FinalizeObject, type ReadUsual, type Rule } from './request-validation.ts'
import type { Fault } from './fault.ts'

export { T, type Static, type TSchema }

export const Uuid = T.String({ format: 'uuid' })
/** `YYYY-MM-DD`. A request may contain an exact date-time; its date is used. */
export const DateOnly = T.String({ format: 'date' })
/** As `DateOnly`; the date of a date-time is used with any time of day. Source: lab-testing.md 5.1. */
export const DateOfBirth = T.String({ format: 'date', readAs: 'date-of-birth' })
/** An instant. In: any ISO 8601 form, a missing offset means UTC. Out: `YYYY-MM-DDTHH:MM:SS+00:00`. */
export const Timestamp = T.String({ format: 'date-time' })
export const Email = T.String({ format: 'email', maxLength: 254 })
/** A zone of the IANA database, or one of its links. */
export const TimeZone = T.String({ format: 'iana-time-zone' })

export const Nullable = <S extends TSchema>(schema: S) => T.Union([schema, T.Null()])

/** A copy of a schema with a description; what TypeBox keeps in hidden properties is copied too. */
export const describedAs = <S extends TSchema>(schema: S, description: string | undefined): S =>
  Object.defineProperties(
    {},
    {
      ...Object.getOwnPropertyDescriptors(schema),
      ...(description !== undefined && { description: { value: description, enumerable: true } }),
    },
  ) as S

/** A field that may be absent or null; both mean "not given" and are parsed as absent. */
export const Maybe = <S extends TSchema>(schema: S) => T.Optional(schema)

/** A field that a caller may clear: absent leaves the value, null clears it. */
export const Clearable = <S extends TSchema>(schema: S) => T.Optional(Nullable(schema))

/**
 * A non-exhaustive enumeration: requests accept only listed values, in any letter case, normalized to the listed form. Responses are not
 * checked against the list.
 */
export const OpenEnum = <const V extends string>(values: readonly V[], options: Record<string, unknown> = {}): TUnsafe<V> =>
  T.Unsafe<V>({ type: 'string', enum: [...values], ...options })

/** Text that a rule beyond JSON Schema normalizes or rejects. `rule` gets a string that already satisfies the schema. */
export const Text = (
  options: {
    minLength?: number
    maxLength?: number
    pattern?: string
    /** The pattern's requirement; "String should " is put before it. */
    says?: string
    description?: string
    /** The value of an absent field. */
    default?: string
    /** For a parameter: the API page proposes this value. */
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
  /** Other spellings of a field that requests may use. */
  aliases?: Record<string, string>
  /** A final check or normalization after every field is valid. */
  finish?: FinalizeObject
  dependent?: Dependent
  /** Reads the usual form of a frequent object quicker. */
  readUsual?: ReadUsual
  /** The schema that replaces it in bodies of cells outside the United States. */
  abroad?: TSchema
  additionalProperties?: boolean
}

/** An object. */
export const Fields = <P extends TProperties>(properties: P, options: FieldsOptions = {}) =>
  T.Object(properties, options as TObjectOptions)

/** A value whose nullable fields may be absent. */
type WithoutNulls<V> = { [K in keyof V as null extends V[K] ? never : K]: V[K] } & {
  [K in keyof V as null extends V[K] ? K : never]?: V[K] | undefined
}

/** The fields of a shape, in its order: absent ones are null, and others of the value are left out. */
export function withNulls<P extends TProperties>(
  { properties }: TObject<P>,
  value: WithoutNulls<Static<TObject<P>>>,
): Static<TObject<P>> {
  const result: Record<string, unknown> = {}
  for (const name in properties) result[name] = (value as Record<string, unknown>)[name] ?? null
  return result as Static<TObject<P>>
}

/** One of several objects that a literal field distinguishes. A request is checked against the object that the field names. */
export const OneOf = <const B extends TSchema[]>(
  discriminator: string,
  branches: [...B],
  options: { title?: string; description?: string } = {},
) => T.Union(branches, { ...options, discriminator })

/** Whether a value that this program has written as JSON before still has the form of `schema`. */
export function matchesSchema<S extends TSchema>(schema: S, value: unknown): value is Static<S> {
  const faults: Fault[] = []
  validate(schema, value, [], faults, 'json')
  return faults.length === 0
}
