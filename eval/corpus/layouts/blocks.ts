// Short forms for what many layouts have.
import type { Block, Fields, TextStyle } from '../language.ts'

export const text = (content: string, style: TextStyle = {}): Block => ({ kind: 'text', text: content, ...style })

/** Rows of fields, from lines such as `Patient={name} | DOB={dob}`. */
function parse(lines: readonly string[]): Fields['rows'] {
  return lines.map((line) =>
    line.split(' | ').map((field) => {
      const [label = '', value = ''] = field.split(/=(.*)/s)
      return [label, value]
    }),
  )
}

/** Labels beside their values. Each line is a row of fields: `Patient={name} | DOB={dob}`. */
export const fields = (lines: readonly string[], rest: Partial<Fields> = {}): Block => ({
  kind: 'fields',
  rows: parse(lines),
  ...rest,
})

/** Labels above their values. */
export const stackFields = (lines: readonly string[], rest: Partial<Fields> = {}): Block =>
  fields(lines, { stacked: true, ...rest })

export const columns = (shares: number[], ...content: Block[][]): Block => ({ kind: 'columns', shares, columns: content })

export const rule = (weight = 0.6, color = '#000000'): Block => ({ kind: 'rule', weight, color })

export const space = (height: number): Block => ({ kind: 'space', height })
