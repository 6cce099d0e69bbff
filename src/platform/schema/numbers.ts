// Parses numbers and booleans of requests: in JSON as they are, in text as clients write them.
import type { Fault, Loc } from './fault.ts'

/** `json`: types must match. `abroad`: the same, in a cell outside the United States. `text`: path, query and headers are parsed. */
export type Mode = 'json' | 'abroad' | 'text'

interface NumberShape {
  type?: string
  minimum?: number
  maximum?: number
}

/** Parses a number within bounds. Errors are appended to `faults`. */
export function readNumber(s: NumberShape, value: unknown, loc: Loc, faults: Fault[], mode: Mode): unknown {
  const kind = s.type === 'integer' ? 'int' : 'float'
  const noun = kind === 'int' ? 'integer' : 'number'
  const echo = mode === 'text' ? { input: value } : {}
  let n = value
  if (mode === 'text' && typeof value === 'string') {
    const text = value.trim()
    const wellFormed =
      kind === 'int' ? /^[+-]?\d{1,16}$/.test(text) : /^[+-]?(\d{1,16}(\.\d{0,16})?|\.\d{1,16})(e[+-]?\d{1,3})?$/i.test(text)
    if (!wellFormed) {
      faults.push({
        loc: [...loc],
        msg: `Input should be a valid ${noun}, unable to parse string as ${kind === 'int' ? 'an integer' : 'a number'}`,
        type: `${kind}_parsing`,
        ...echo,
      })
      return value
    }
    n = Number(text)
  }
  if (typeof n !== 'number' || !Number.isFinite(n)) {
    faults.push({ loc: [...loc], msg: `Input should be a valid ${noun}`, type: `${kind}_type`, ...echo })
    return value
  }
  if (kind === 'int' && !Number.isInteger(n)) {
    faults.push({
      loc: [...loc],
      msg: 'Input should be a valid integer, got a number with a fractional part',
      type: 'int_from_float',
      ...echo,
    })
    return value
  }
  if (s.minimum !== undefined && n < s.minimum)
    faults.push({
      loc: [...loc],
      msg: `Input should be greater than or equal to ${s.minimum}`,
      type: 'greater_than_equal',
      ctx: { ge: s.minimum },
      ...echo,
    })
  else if (s.maximum !== undefined && n > s.maximum)
    faults.push({
      loc: [...loc],
      msg: `Input should be less than or equal to ${s.maximum}`,
      type: 'less_than_equal',
      ctx: { le: s.maximum },
      ...echo,
    })
  return n
}

const TRUE = new Set(['true', '1', 'on', 'yes', 't', 'y'])
const FALSE = new Set(['false', '0', 'off', 'no', 'f', 'n'])

/** Parses true or false, in text also as forms write it. Errors are appended to `faults`. */
export function readBoolean(value: unknown, loc: Loc, faults: Fault[], mode: Mode): unknown {
  if (typeof value === 'boolean') return value
  if (mode === 'text' && typeof value === 'string') {
    const text = value.toLowerCase()
    if (TRUE.has(text)) return true
    if (FALSE.has(text)) return false
    faults.push({
      loc: [...loc],
      msg: 'Input should be a valid boolean, unable to interpret input',
      type: 'bool_parsing',
      input: value,
    })
  } else faults.push({ loc: [...loc], msg: 'Input should be a valid boolean', type: 'bool_type' })
  return value
}
