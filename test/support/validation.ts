// Reads values as requests are read, with every fault found.
import assert from 'node:assert/strict'
import type { Fault } from '../../src/platform/schema/fault.ts'
import { validate } from '../../src/platform/schema/request-validation.ts'
import type { TSchema } from '../../src/platform/schema/schema.ts'

type Outcome = { value: unknown } | { faults: Fault[] }

function outcome(schema: TSchema, value: unknown, mode: 'json' | 'text' = 'json', loc: string[] = ['body']): Outcome {
  const faults: Fault[] = []
  const result = validate(schema, value, loc, faults, mode)
  return faults.length ? { faults } : { value: result }
}

export const json = (schema: TSchema, value: unknown) => outcome(schema, value, 'json')
export const text = (schema: TSchema, value: unknown) => outcome(schema, value, 'text', ['query', 'x'])

/** The only error of a value, without its path. */
export function faultOf(outcome: Outcome): Omit<Fault, 'loc'> {
  assert.ok('faults' in outcome, 'nothing was refused')
  assert.equal(outcome.faults.length, 1)
  const { loc: _, ...fault } = outcome.faults[0]!
  return fault
}
