// The secrets of a profile: passwords and private keys, stored apart from its options. Pure.
import { isMask, MASK } from '../../../platform/crypto/api-keys.ts'
import type { TSchema } from '../../../platform/schema/schema.ts'
import { setOption, type Options } from './differences.ts'

/** Path of an option → its value. */
export type Secrets = Record<string, string>

/** The paths of the options that are secrets. */
function secretPaths(schema: TSchema, path = ''): string[] {
  const { properties = {}, isSecret } = schema as { properties?: Record<string, TSchema>; isSecret?: boolean }
  if (isSecret) return [path]
  return Object.entries(properties).flatMap(([name, option]) => secretPaths(option, path ? `${path}.${name}` : name))
}

/** A copy of options in which no secret is present, and the secrets. */
export function splitSecrets(schema: TSchema, options: object): { open: Options; secrets: Secrets } {
  const open = structuredClone(options) as Options
  const secrets: Secrets = {}
  for (const path of secretPaths(schema)) {
    const names = path.split('.')
    const name = names.pop()!
    const group = names.reduce<Options | undefined>((part, next) => part?.[next] as Options | undefined, open)
    if (typeof group?.[name] !== 'string') continue
    secrets[path] = group[name]
    delete group[name]
  }
  return { open, secrets }
}

/** A copy of options with secrets at their places. */
export function withSecrets<O extends object>(options: O, secrets: Secrets): O {
  const result = structuredClone(options) as O & Options
  for (const [path, secret] of Object.entries(secrets)) setOption(result, path, secret)
  return result
}

/** Options that show which secrets are stored. */
export const withMasks = <O extends object>(options: O, paths: readonly string[]): O =>
  withSecrets(options, Object.fromEntries(paths.map((path) => [path, MASK])))

/** The secrets of a new profile: a mask stands for the stored secret. @returns also the paths of masks without a stored secret */
export function resolveMasks(secrets: Secrets, storedSecrets: Secrets): { secrets: Secrets; unknownPaths: string[] } {
  const masked = Object.keys(secrets).filter((path) => isMask(secrets[path]))
  const known = masked.flatMap((path) => (storedSecrets[path] === undefined ? [] : [[path, storedSecrets[path]] as const]))
  return {
    secrets: { ...secrets, ...Object.fromEntries(known) },
    unknownPaths: masked.filter((path) => storedSecrets[path] === undefined),
  }
}
