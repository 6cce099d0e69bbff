// Templates of layouts: `{token}`, optional parts in brackets, and `\[` for a bracket that is printed.

/** A piece of printed text. `token`: where it came from; undefined for text of the layout itself. */
export interface Segment {
  text: string
  token?: string
}

type Part = { text: string } | { token: string } | { optional: Part[] }

const cache = new Map<string, Part[]>()

function parse(template: string): Part[] {
  const known = cache.get(template)
  if (known) return known
  const stack: Part[][] = [[]]
  for (const [piece, token, literal] of template.matchAll(/\{([^}]+)\}|\\(.)|\[|\]|[^[\]{\\]+/g)) {
    if (piece === '[') stack.push([])
    else if (piece === ']') {
      const optional = stack.pop()!
      stack.at(-1)!.push({ optional })
    } else stack.at(-1)!.push(token === undefined ? { text: literal ?? piece } : { token })
  }
  if (stack.length !== 1) throw new Error(`Brackets do not match in the template ${template}`)
  cache.set(template, stack[0]!)
  return stack[0]!
}

/** Replaces tokens by their values. `valueOf` throws for an unknown token; an empty value makes optional parts vanish. */
export function fill(template: string, valueOf: (token: string) => string): Segment[] {
  const expand = (parts: Part[]): Segment[] | undefined => {
    const segments: Segment[] = []
    let isComplete = true
    for (const part of parts) {
      if ('text' in part) segments.push(part)
      else if ('optional' in part) segments.push(...(expand(part.optional) ?? []))
      else {
        const text = valueOf(part.token)
        if (text === '') isComplete = false
        else segments.push({ text, token: part.token })
      }
    }
    return isComplete ? segments : undefined
  }
  // Outside of brackets an empty token leaves the text around it.
  return parse(template).flatMap((part) => {
    if ('text' in part) return [part]
    if ('optional' in part) return expand(part.optional) ?? []
    return expand([part]) ?? []
  })
}

export const fillText = (template: string, valueOf: (token: string) => string): string =>
  fill(template, valueOf)
    .map(({ text }) => text)
    .join('')

/** Tokens of a template, without the part after `:` or `@`. */
export function tokensOf(template: string): string[] {
  return [...template.matchAll(/\{([^}:@]+)/g)].map(([, token]) => token!)
}
