/**
 * The writes that a transaction has deferred, one by one: it sends them as one statement (`combineWrites` in
 * src/platform/db/database-transaction.ts). Any other statement is a part by itself.
 */
export function partsOf(text: string): string[] {
  const parts: string[] = []
  let at = 0
  for (let number = 0; ; number++) {
    const begin = `${number === 0 ? 'with ' : ', '}w${number} as (`
    if (!text.startsWith(begin, at)) break
    const start = at + begin.length
    at = endOfParenthesis(text, start)
    parts.push(text.slice(start, at))
    at++
  }
  return [...parts, text.slice(at)]
}

/** The position of the parenthesis that closes the one before `start`. Parentheses within quotes do not count. */
function endOfParenthesis(text: string, start: number): number {
  let depth = 1
  for (const { 0: token, index } of text.slice(start).matchAll(/'(?:[^']|'')*'|"[^"]*"|--.*|[()]/g)) {
    if (token === '(') depth++
    else if (token === ')' && --depth === 0) return start + index
  }
  throw new Error('a parenthesis of combined writes is not closed')
}
