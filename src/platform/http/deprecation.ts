// Marks responses of deprecated operations. Source: RFC 9745 (`Deprecation`), RFC 5829 (`successor-version`).
export interface Deprecation {
  since: Date
  /** The path to request instead, below the base path. */
  successor: `/${string}`
}

/** The headers of a deprecated response. @param base_path everything is served below it */
export const deprecationHeaders = ({ since, successor }: Deprecation, base_path: string): Record<string, string> => ({
  deprecation: `@${since.getTime() / 1000}`,
  link: `<${base_path}${successor}>; rel="successor-version"`,
})
