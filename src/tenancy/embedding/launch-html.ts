// The errors of launch URLs: small pages of text, without scripts and without external content.
import type { PageResponse } from '../../platform/http/browser-pages.ts'
import { escapeHtml, phonePage } from '../../platform/http/phone-page.ts'

/** The reason why there is nothing to show, in a sentence. */
export const errorPage = (status: number, title: string, sentence: string, origins: readonly string[] = []): PageResponse =>
  phonePage(status, title, `<p>${escapeHtml(sentence)}</p>`, { frames: origins })

/** Redirects the browser. */
export const redirect = (status: 303 | 307, location: string, headers: Record<string, string> = {}): PageResponse => ({
  status,
  headers: { ...headers, location },
  html: '',
})
