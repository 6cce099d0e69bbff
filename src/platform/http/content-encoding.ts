// Which compression a client accepts.

/** A compression that pages are served with; `identity` is none. */
export type Encoding = 'br' | 'gzip' | 'identity'

/** The best compression that a request accepts, by its header `Accept-Encoding`. */
export function encodingOf(acceptEncoding: string | string[] | undefined): Encoding {
  const accepts = (name: string) =>
    new RegExp(`(^|,)\\s*${name}\\s*(;(?!\\s*q=0(\\.0*)?\\s*(,|$))[^,]*)?(,|$)`, 'i').test(String(acceptEncoding ?? ''))
  return accepts('br') ? 'br' : accepts('gzip') ? 'gzip' : 'identity'
}
