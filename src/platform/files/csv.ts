// Comma-separated text as rows by column name (RFC 4180). It refuses what it does not understand and never guesses a delimiter,
// trims a field, or gives values a type.

/** Longest text taken, in UTF-16 units. */
export const csvSizeMax = 8 * 1024 * 1024

const fault = (line: number, text: string): Error => new Error(`csv line ${line}: ${text}`)

/**
 * Rows of a text whose first record names the columns. Records end with LF or CRLF, the last one may lack its end; a leading byte
 * order mark is skipped. A field is quoted when it holds a comma, a quote (written twice) or a line break.
 * Error naming the line where the record starts: column missing or too many, name empty or repeated, stray or unclosed quote.
 * Limit: `csvSizeMax`.
 */
export function parseCsv(text: string): Record<string, string>[] {
  if (text.length > csvSizeMax) throw new Error(`csv longer than ${csvSizeMax} characters`)
  const records = recordsOf(text)
  const header = records.next()
  if (header.done) throw fault(1, 'no header')
  const names = header.value.fields
  if (names.includes('')) throw fault(1, 'column without a name')
  if (new Set(names).size < names.length) throw fault(1, 'column name repeated')
  const rows: Record<string, string>[] = []
  for (const { fields, line } of records) {
    if (fields.length !== names.length) throw fault(line, `${fields.length} fields where the header names ${names.length}`)
    rows.push(Object.fromEntries(names.map((name, index) => [name, fields[index]!])))
  }
  return rows
}

function* recordsOf(text: string): Generator<{ fields: string[]; line: number }, void> {
  const end = text.length
  let at = text.startsWith('\uFEFF') ? 1 : 0
  let line = 1
  while (at < end) {
    const fields: string[] = []
    const started = line
    for (let more = true; more;) {
      let field: string
      if (text[at] === '"') {
        const close = closingQuote(text, at, started)
        field = text.slice(at + 1, close).replaceAll('""', '"')
        line += field.split('\n').length - 1
        at = close + 1
      } else {
        const start = at
        while (at < end && text[at] !== ',' && text[at] !== '\n' && text[at] !== '\r') {
          if (text[at] === '"') throw fault(started, 'quote inside a field that does not start with one')
          at++
        }
        field = text.slice(start, at)
      }
      fields.push(field)
      more = text[at] === ','
      if (more) at++
    }
    if (text.startsWith('\r\n', at)) at += 2
    else if (text[at] === '\n') at++
    else if (at < end) throw fault(started, 'text after a closing quote, or a lone carriage return')
    line++
    yield { fields, line: started }
  }
}

function closingQuote(text: string, open: number, line: number): number {
  let close = text.indexOf('"', open + 1)
  while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
  if (close < 0) throw fault(line, 'quote never closed')
  return close
}
