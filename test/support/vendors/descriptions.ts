// What vendors publish about their answers, to compare those of the servers in this folder with. The descriptions are not part of this
// repository: they are looked for in a folder `shared/reference/vendors` beside it.
import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'

type Schema = Record<string, unknown>
const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value)

const folder = ['../../../../shared/', '../../../../../shared/']
  .map((path) => new URL(`${path}reference/vendors/`, import.meta.url))
  .find((url) => existsSync(url))

/** Why descriptions are not compared; undefined where they can be. */
export const noDescriptions = folder ? undefined : 'no folder ../shared/reference/vendors beside the repository'

export function readDescription(path: string): Schema {
  const text = readFileSync(new URL(path, folder), 'utf8')
  return (path.endsWith('.json') ? JSON.parse(text) : parse(text)) as Schema
}

export interface Checks {
  /** Fields whose description shows one item of what is a list in truth. */
  lists?: readonly string[]
  /** Fields that are answered and not described, each for a reason that the test states. */
  beyond?: readonly string[]
}

/** Compares a value with a schema of a description. @returns what differs, with its place */
function differences(description: Schema, schema: unknown, value: unknown, checks: Checks = {}): string[] {
  const found: string[] = []
  visit(schema, value, '')
  return found

  function visit(given: unknown, part: unknown, at: string): void {
    const one = flat(given)
    if (!one) return
    const choices = one.oneOf ?? one.anyOf
    if (Array.isArray(choices)) {
      const results = choices.map((choice) => differences(description, choice, part, checks))
      if (results.every((result) => result.length)) found.push(`${at}: none of ${choices.length} choices`)
      return
    }
    if (part === null) {
      const types = [one.type].flat()
      if (one.nullable !== true && one['x-nullable'] !== true && !types.includes('null')) found.push(`${at}: null`)
      return
    }
    if (Array.isArray(part)) {
      const name = at.split('.').at(-1) ?? ''
      if (one.type === 'array') for (const item of part) visit(one.items, item, `${at}[]`)
      else if (checks.lists?.includes(name)) for (const item of part) visit(given, item, `${at}[]`)
      else found.push(`${at}: a list`)
      return
    }
    if (isObject(part)) return visitObject(one, part, at)
    if (typeof part === 'undefined') return void found.push(`${at}: undefined`)
    visitScalar(one, part as string | number | boolean, at)
  }

  function visitObject(one: Schema, part: Schema, at: string): void {
    if (one.type !== undefined && one.type !== 'object' && !isObject(one.properties)) return void found.push(`${at}: an object`)
    const properties = isObject(one.properties) ? one.properties : {}
    const anyName = Object.keys(properties).find((name) => name.startsWith('$'))
    const isOpen = one.additionalProperties !== undefined && one.additionalProperties !== false
    for (const [name, value] of Object.entries(part)) {
      const inside = `${at}.${name}`
      if (Object.hasOwn(properties, name)) visit(properties[name], value, inside)
      else if (anyName !== undefined && /^\d+$/.test(name)) visit(properties[anyName], value, inside)
      else if (isOpen) visit(one.additionalProperties, value, inside)
      else if (Object.keys(properties).length && !checks.beyond?.includes(name)) found.push(`${inside}: not described`)
    }
    for (const name of Array.isArray(one.required) ? one.required : [])
      if (!Object.hasOwn(part, String(name))) found.push(`${at}.${name}: missing`)
  }

  function visitScalar(one: Schema, part: string | number | boolean, at: string): void {
    const { type, format } = one
    const types = (Array.isArray(type) ? type : [type]).filter((name) => JSON_TYPES.has(String(name)))
    const own = typeof part === 'number' ? (Number.isInteger(part) ? ['integer', 'number'] : ['number']) : [typeof part]
    if (types.length && !types.some((name) => own.includes(String(name))))
      found.push(`${at}: ${typeof part}, not ${types.join()}`)
    if (Array.isArray(one.enum) && !one.enum.includes(part)) found.push(`${at}: ${part} is no value of the enum`)
    if (typeof part === 'string' && format === 'date-time' && !Number.isFinite(Date.parse(part)))
      found.push(`${at}: no date-time`)
    if (typeof part === 'string' && format === 'date' && !/^\d{4}-\d\d-\d\d$/.test(part)) found.push(`${at}: no date`)
  }

  /** A schema with its references and parts put together. */
  function flat(given: unknown): Schema | undefined {
    if (!isObject(given)) return undefined
    if (typeof given.$ref === 'string') return flat(resolve(given.$ref))
    if (!Array.isArray(given.allOf)) return given
    const parts = [...given.allOf.map(flat), { ...given, allOf: undefined }].filter(isObject)
    const merged: Schema = Object.assign({}, ...parts)
    merged.properties = Object.assign({}, ...parts.map(({ properties }) => properties ?? {}))
    return merged
  }

  function resolve(reference: string): unknown {
    return reference
      .split('/')
      .slice(1)
      .reduce<unknown>(
        (node, name) => (isObject(node) ? node[name.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
        description,
      )
  }
}

const JSON_TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])

/** The schema of the answer with status 200, by id of the operation, or by method and path. */
function answerSchema(description: Schema, operation: string): unknown {
  for (const [path, methods] of Object.entries(description.paths as Schema)) {
    if (!isObject(methods)) continue
    for (const [method, one] of Object.entries(methods)) {
      if (!isObject(one) || (one.operationId !== operation && `${method} ${path}` !== operation)) continue
      const responses = one.responses as Record<string, Schema>
      const response = responses['200'] ?? responses['201']
      if (!response) throw new Error(`${operation} has no answer`)
      if (response.schema) return response.schema
      const content = response.content as Record<string, { schema: unknown }> | undefined
      return content && Object.values(content)[0]?.schema
    }
  }
  throw new Error(`the description has no ${operation}`)
}

/** What of a server's answers differs from the description; the operations that were compared. */
export function compareAnswers(
  description: Schema,
  answers: { operation: string; body: unknown }[],
  checks: Checks = {},
): { differences: string[]; operations: Set<string> } {
  const found = answers.flatMap(({ operation, body }) =>
    differences(description, answerSchema(description, operation), body, checks).map((text) => `${operation} ${text}`),
  )
  return { differences: [...new Set(found)], operations: new Set(answers.map(({ operation }) => operation)) }
}
