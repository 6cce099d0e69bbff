// Requests that give everything that an operation reads, each field a value that can be found again.
import { randomUUID } from 'node:crypto'
import type { Operation } from '../../../src/platform/http/operation.ts'
import type { TestTeam } from '../../support/server.ts'
import { propertiesOf, type Request } from './requests.ts'

interface Shape {
  type?: string
  format?: string
  anyOf?: Shape[]
  enum?: string[]
  items?: Shape
  properties?: Record<string, Shape>
  minimum?: number
  maximum?: number
}

/** A field that was given, and the text by which it is found where it was kept: its value, or its name and its value. */
export interface Trace {
  field: string
  text: string
}

/** What parts names from values, and texts from texts, is not the same in every place. */
export const compact = (text: string): string => text.replaceAll(/["\\ ]/g, '')

/** Names of fields whose values must exist or belong to the team: copied from a request that works, or left out. */
const EXISTING =
  /_id$|_ids$|^(sample_id|booking_key|provider|collection_method|cancellationReasonId|zip_code|status|direction|event|case|order_source)$/
/** Ids of what nobody looks up, and numbers on the cards of others. */
const FREE = new Set(['creator_member_id', 'client_user_id', 'insurance_id', 'group_id'])

/** What a request that works does not show, or what an operation cannot be asked beside the rest. */
const more: Record<string, (team: TestTeam) => Promise<Record<string, unknown>>> = {
  create_order: createOrderWithQuestions,
  create_order_once: createOrderWithQuestions,
  register_testkit_order: async (team) => ({ user_id: await team.user() }),
}
const without: Record<string, string> = {
  create_order: 'order_set',
  create_order_once: 'order_set',
  import_order: 'order_set.add_on',
}

/** A test whose laboratory asks something, and the answer. */
async function createOrderWithQuestions(team: TestTeam): Promise<Record<string, unknown>> {
  const { markers } = (await team.api.get('/v3/lab_tests/markers?lab_slug=quest&size=100')).body
  const open = ({ type }: { type: string }) => type === 'text' || type === 'numeric'
  for (const { id: marker_id, aoe } of markers) {
    const question = aoe?.questions.find(open)
    if (!question || !aoe.questions.every((item: { type: string; required: boolean }) => open(item) || !item.required)) continue
    const test = { name: 'Asking', method: 'walk_in_test', description: 'Asks.', marker_ids: [marker_id] }
    const { body } = await team.api.post('/v3/lab_tests', test)
    const aoe_answers = aoe.questions
      .filter(open)
      .map(({ id }: { id: number }) => ({ marker_id, question_id: id, answer: '74123' }))
    return { lab_test_id: body.id, aoe_answers, collection_method: 'walk_in_test', activate_by: '2100-01-31' }
  }
  throw new Error('no laboratory of the catalog asks for a number or a text')
}

/** The body of a request that works, with everything that the operation reads. */
export async function fullBody(
  team: TestTeam,
  operation: Operation,
  { body: known }: Request,
): Promise<{ body: unknown; traces: Trace[] }> {
  const traces: Trace[] = []
  let n = 0

  const leaf = (shape: Shape, name: string, knownValue: unknown): { value: unknown; text: string } => {
    const plain = (value: unknown, text = String(value)) => ({ value, text: compact(text) })
    const named = (value: unknown, text = String(value)) => ({ value, text: compact(`${name}:${text}`) })
    n++
    if (name === 'payor_code') return plain('AETNA')
    if (EXISTING.test(name) && !FREE.has(name))
      return knownValue === undefined ? { value: undefined, text: '' } : plain(knownValue)
    if (shape.enum) return named(shape.enum.at(-1))
    if (shape.type === 'boolean') return named(true)
    if (shape.type === 'integer' || shape.type === 'number')
      return plain(Math.min((shape.minimum ?? 0) + 71_000 + n, shape.maximum ?? Infinity))
    if (shape.format === 'uuid') return plain(randomUUID())
    if (shape.format === 'email') return plain(`canary${n}@example.com`)
    if (name === 'activate_by') return plain('2100-01-31')
    if (shape.format === 'date') return plain(new Date(Date.UTC(1950, 0, n)).toISOString().slice(0, 10))
    if (shape.format === 'date-time') {
      const at = new Date(Date.UTC(2026, 0, 1, 0, n, 7)).toISOString().slice(0, 19)
      return plain(`${at}Z`, at)
    }
    if (shape.format === 'iana-time-zone') return plain('America/Phoenix')
    if (name === 'phone_number') return plain(`+155501${10_000 + n}`)
    if (name === 'zip') return plain(`85004-${1000 + n}`)
    if (name === 'state') return named('AZ')
    if (name === 'country') return named('US', 'United States')
    if (name === 'redirect_url') return plain(`https://canary${n}.example/`)
    if (name === 'first_line') return plain(`12 Canary${n} Street`)
    return plain(`Canary${n}`)
  }

  const fill = (schema: Shape, path: string[], knownValue: unknown): unknown => {
    const shape = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema
    if (path.join('.') === without[operation.id]) return knownValue
    if (shape.properties) {
      const fields = Object.entries(shape.properties).map(
        ([name, property]) =>
          [name, fill(property, [...path, name], (knownValue as Record<string, unknown> | undefined)?.[name])] as const,
      )
      return Object.fromEntries(fields.filter(([, value]) => value !== undefined))
    }
    if (shape.items) {
      const item = fill(shape.items, path, (knownValue as unknown[] | undefined)?.[0])
      return item === undefined ? undefined : [item]
    }
    const { value, text } = leaf(shape, path.at(-1)!, knownValue)
    if (value !== undefined) traces.push({ field: path.join('.'), text })
    return value
  }

  const full = fill(operation.body as unknown as Shape, [], known) as Record<string, unknown>
  const own = (await more[operation.id]?.(team)) ?? {}
  const replaced = traces.filter(({ field }) => !Object.hasOwn(own, field.split('.')[0]!))
  for (const [name, value] of Object.entries(own)) for (const text of texts(value)) replaced.push({ field: name, text })
  return { body: { ...full, ...own }, traces: replaced }
}

const texts = (value: unknown): string[] =>
  value === undefined ? [] : typeof value === 'object' ? Object.values(value as object).flatMap(texts) : [compact(String(value))]

/** Every field that the operation reads, lists and objects within included. */
export function listFields(schema: unknown, parentPath: string[] = []): string[] {
  const shape = schema as Shape
  const only = shape.anyOf?.find(({ type }) => type !== 'null') ?? shape
  if (only.items) return listFields(only.items, parentPath)
  if (!only.properties) return [parentPath.join('.')]
  return Object.entries(propertiesOf(only)).flatMap(([name, property]) => listFields(property, [...parentPath, name]))
}
