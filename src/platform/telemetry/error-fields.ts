// The loggable fields of an unexpected error.
interface Cause {
  name: string
  code?: string
  constraint?: string
  stack?: string
}

/** Class, code and frames of an unexpected error. The message may quote a value, so it is left out. */
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
