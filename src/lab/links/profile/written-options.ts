// Options of a profile as they are typed: `text.decimal_mark=,`. Pure.
import { readOutsideJson } from '../../../platform/net/outside-json.ts'
import type { TSchema } from '../../../platform/schema/schema.ts'
import { setOption, type Options } from './differences.ts'
import { LinkProfile } from './link-profile.ts'

/** The reason why typed options have no meaning. */
export class OptionError extends Error {
  override name = 'OptionError'
}

/**
 * Sets a typed option. Texts are taken as they are, or as what a JSON string means: `""` is an empty text. Lists, maps, numbers and booleans
 * are JSON. An empty value means the value of the preset, or the default. A text from a file is always taken as it is.
 * @param isFile the value comes from a file; only so can a secret be set, because others can read the words of a command
 * Errors: OptionError the option does not exist, or the value is not JSON
 */
export function setWrittenOption(options: Options, path: string, text: string, isFile: boolean): void {
  if (path === 'preset') return setOption(options, path, text === '' ? null : text)
  const schema = optionAt(path)
  if (!schema) throw new OptionError(`${path} is not an option of a profile`)
  const { type, isSecret } = schema as { type?: string; isSecret?: boolean }
  if (isSecret && !isFile && text !== '') throw new OptionError(`${path} is a secret: write ${path}=@FILE`)
  const isPlainText = type === 'string' && (isFile || !/^".*"$/su.test(text))
  setOption(options, path, text === '' ? undefined : isPlainText ? text : parseValue(path, text))
}

/** The schema of an option; undefined for a group or an unknown path. */
function optionAt(path: string): TSchema | undefined {
  let schema: TSchema = LinkProfile
  for (const name of path.split('.')) {
    const { properties } = schema as { properties?: Record<string, TSchema> }
    if (!properties || !Object.hasOwn(properties, name)) return undefined
    schema = properties[name]!
  }
  return 'properties' in schema ? undefined : schema
}

function parseValue(path: string, text: string): unknown {
  try {
    return readOutsideJson(text)
  } catch {
    throw new OptionError(`${path} must be JSON, such as ["A", "B"], {"A": "B"}, "A", 5 or true`)
  }
}
