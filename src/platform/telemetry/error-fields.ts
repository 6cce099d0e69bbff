// What may be told of an error that nobody foresaw.
interface Cause {
  name: string
  code?: string
  constraint?: string
  stack?: string
}

/** What may be said of an unexpected error: its class, code and frames. The message may quote a value, so it stays out. */
export function errorFields(error: unknown): Cause[] {
  const chain: Cause[] = []
  for (let e = error; e instanceof Error && chain.length < 5; e = e.cause) {
    const { code, constraint } = e as { code?: unknown; constraint?: unknown }
    const frames = e.stack
      ?.split('\n')
      .filter((line) => line.startsWith('    at '))
      .slice(0, 12)
      .join('\n')
    chain.push({
      name: e.name,
      ...(typeof code === 'string' && { code }),
      ...(typeof constraint === 'string' && { constraint }),
      ...(frames && { stack: frames }),
    })
  }
  return chain.length ? chain : [{ name: typeof error }]
}
