// The page of a launch's feature: where the session begins, and for an embedded one all that it has.
import type { LaunchSession } from '../session/session.ts'

interface FeaturePage {
  /** Below `/:team/:cell/`. */
  start: string
  /** Whether a page belongs to the feature. */
  has: (page: string) => boolean
}

const isPage =
  (page: string): FeaturePage['has'] =>
  (path) =>
    path === page

/** @param id of the order or user that the feature names */
const featurePages: Record<string, (id: string) => FeaturePage> = {
  order_creation: (id) => ({ start: `orders/new${id && `?user=${id}`}`, has: isPage('orders/new') }),
  order: (id) => ({ start: `orders/${id}`, has: isPage(`orders/${id}`) }),
  team_panels: () => ({ start: 'catalog', has: (path) => /^catalog(\/|$)/.test(path) }),
  team_config: () => ({ start: 'team-config', has: isPage('team-config') }),
}

const NO_PAGE: FeaturePage = { start: '', has: () => false }

export function pageOf({ feature }: LaunchSession): FeaturePage {
  const [name = '', id = ''] = feature.split(':')
  return featurePages[name]?.(id) ?? NO_PAGE
}
