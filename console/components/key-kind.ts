/** Whose key a request needs: that of a team, or a management key of the organization. */
export type KeyKind = 'team' | 'management'
