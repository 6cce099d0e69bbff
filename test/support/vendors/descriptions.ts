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
  extraFields?: readonly string[]
}

/** Compares a value with a schema of a description. @returns what differs, with its place */
function differences(description: Schema, schema: unknown, value: unknown, checks: Checks = {}): string[] {
  const found: string[] = []
  visit(schema, value, '')
  return found

  function visit(schema: unknown, part: unknown, path: string): void {
    const one = flat(schema)
    if (!one) return
    const choices = one.oneOf ?? one.anyOf
    if (Array.isArray(choices)) {
      const results = choices.map((choice) => differences(description, choice, part, checks))
      if (results.every((result) => result.length)) found.push(`${path}: none of ${choices.length} choices`)
      return
    }
    if (part === null) {
      const types = [one.type].flat()
      if (one.nullable !== true && one['x-nullable'] !== true && !types.includes('null')) found.push(`${path}: null`)
      return
    }
    if (Array.isArray(part)) {
      const name = path.split('.').at(-1) ?? ''
      if (one.type === 'array') for (const item of part) visit(one.items, item, `${path}[]`)
      else if (checks.lists?.includes(name)) for (const item of part) visit(schema, item, `${path}[]`)
      else found.push(`${path}: a list`)
      return
    }
    if (isObject(part)) return visitObject(one, part, path)
    if (typeof part === 'undefined') return void found.push(`${path}: undefined`)
    visitScalar(one, part as string | number | boolean, path)
  }

  function visitObject(object: Schema, part: Schema, path: string): void {
    if (object.type !== undefined && object.type !== 'object' && !isObject(object.properties))
      return void found.push(`${path}: an object`)
    const properties = isObject(object.properties) ? object.properties : {}
    const anyName = Object.keys(properties).find((name) => name.startsWith('$'))
    const isOpen = object.additionalProperties !== undefined && object.additionalProperties !== false
    for (const [name, value] of Object.entries(part)) {
      const inside = `${path}.${name}`
      if (Object.hasOwn(properties, name)) visit(properties[name], value, inside)
      else if (anyName !== undefined && /^\d+$/.test(name)) visit(properties[anyName], value, inside)
      else if (isOpen) visit(object.additionalProperties, value, inside)
      else if (Object.keys(properties).length && !checks.extraFields?.includes(name)) found.push(`${inside}: not described`)
    }
    for (const name of Array.isArray(object.required) ? object.required : [])
      if (!Object.hasOwn(part, String(name))) found.push(`${path}.${name}: missing`)
  }

  function visitScalar(scalar: Schema, part: string | number | boolean, path: string): void {
    const { type, format } = scalar
    const types = (Array.isArray(type) ? type : [type]).filter((name) => JSON_TYPES.has(String(name)))
    const own = typeof part === 'number' ? (Number.isInteger(part) ? ['integer', 'number'] : ['number']) : [typeof part]
    if (types.length && !types.some((name) => own.includes(String(name))))
      found.push(`${path}: ${typeof part}, not ${types.join()}`)
    if (Array.isArray(scalar.enum) && !scalar.enum.includes(part)) found.push(`${path}: ${part} is no value of the enum`)
    if (typeof part === 'string' && format === 'date-time' && !Number.isFinite(Date.parse(part)))
      found.push(`${path}: no date-time`)
    if (typeof part === 'string' && format === 'date' && !/^\d{4}-\d\d-\d\d$/.test(part)) found.push(`${path}: no date`)
  }

  /** A schema with its references and parts put together. */
  function flat(schema: unknown): Schema | undefined {
    if (!isObject(schema)) return undefined
    if (typeof schema.$ref === 'string') return flat(resolve(schema.$ref))
    if (!Array.isArray(schema.allOf)) return schema
    const parts = [...schema.allOf.map(flat), { ...schema, allOf: undefined }].filter(isObject)
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
