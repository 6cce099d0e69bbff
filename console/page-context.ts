// What the page tells its script: where the server is, for which launch it is, and the nonce for style elements.

const metaOf = (name: string): string => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? ''

/** What all addresses of the server begin with, for example `/lab`; mostly empty. */
export const basePath = metaOf('drawbridge-base-path')

/** The session that a launch URL has opened for this page; empty on the page of members. */
export const launchId = metaOf('drawbridge-launch')

/** Allows style elements under the page's content security policy. */
export const styleNonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? ''
