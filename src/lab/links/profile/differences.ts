// A profile as a preset and the options that differ from it. Lists and maps differ as a whole. Pure.
import { isDeepStrictEqual } from 'node:util'
import type { TSchema } from '../../../platform/schema/schema.ts'

/** A part of a profile, or of its schema: options and groups of options by name. */
export type Options = Record<string, unknown>

export interface Difference {
  /** `text.decimal_mark`. */
  option: string
  /** Of the preset; undefined if it has none. */
  standard: unknown
  value: unknown
}

/** The schemas of a group's options; undefined for a schema that is not of a group. */
const optionsIn = (schema: TSchema): Record<string, TSchema> | undefined =>
  (schema as { properties?: Record<string, TSchema> }).properties

const isOptions = (value: unknown): value is Options => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Options with other options in their place, down to single options. Absent groups become empty ones. A value that is not of the form of the
 * schema stays as it is, for the validation to report.
 */
export function mergeOptions(schema: TSchema, standard: unknown, options: unknown): unknown {
  const known = optionsIn(schema)
  if (!known) return options === undefined ? standard : options
  if (options !== undefined && options !== null && !isOptions(options)) return options
  const [base, changes] = [isOptions(standard) ? standard : {}, options ?? {}]
  const result: Options = { ...base, ...changes }
  for (const [name, option] of Object.entries(known)) {
    const value = mergeOptions(option, base[name], changes[name])
    if (value !== undefined) result[name] = value
  }
  return result
}

/** The options in which a profile differs from a standard one. An option that only the standard has is null. */
export function listDifferences(schema: TSchema, standard: unknown, profile: unknown, path = ''): Difference[] {
  const known = optionsIn(schema)
  if (!known) return isDeepStrictEqual(standard, profile) ? [] : [{ option: path, standard, value: profile ?? null }]
  const [base, whole] = [isOptions(standard) ? standard : {}, isOptions(profile) ? profile : {}]
  return Object.entries(known).flatMap(([name, option]) =>
    listDifferences(option, base[name], whole[name], path ? `${path}.${name}` : name),
  )
}

/** The options of differences, in their groups. */
export function toOptions(differences: readonly Difference[]): Options {
  const result: Options = {}
  for (const { option, value } of differences) setOption(result, option, value)
  return result
}

/** Sets an option by its path. */
export function setOption(options: Options, path: string, value: unknown): void {
  const names = path.split('.')
  let group = options
  for (const name of names.slice(0, -1)) group = (group[name] ??= {}) as Options
  group[names.at(-1)!] = value
}
