// The pages of a team: their addresses, and their place in the navigation. A page is an entry here and a folder in pages/.
import type { ComponentType } from 'react'
import { matchPath } from 'react-router'
import type { IconName } from './components/Icon.tsx'
import type { FoundObject } from './frame/palette/object-search.ts'
import { SECTIONS } from './pages/settings/sections.ts'
import type { OperationId } from './session/permissions.ts'

export interface PageEntry {
  /** Below `/console/:team/:cell/`. */
  path: string
  load: () => Promise<ComponentType>
  /** For pages in the navigation: hidden from members who may not call the operation. */
  navigation?: { label: string; icon: IconName; operation: OperationId }
  /** What can be done on the page, for the command palette: `path` opens the page so that it is done there. */
  actions?: readonly { label: string; icon: IconName; path: string; operation: OperationId }[]
  /** Parts of the page with addresses of their own, for the command palette. */
  sections?: readonly { label: string; path: string; operation: OperationId }[]
  /** Kind → the path that shows an object by its id, for the command palette. */
  objects?: Partial<Record<FoundObject['kind'], (id: string) => string>>
}

export const PAGES: readonly PageEntry[] = [
  {
    path: '',
    load: async () => (await import('./pages/overview/OverviewPage.tsx')).OverviewPage,
    navigation: { label: 'Overview', icon: 'overview', operation: 'get_teams_metrics' },
  },
  {
    path: 'orders',
    load: async () => (await import('./pages/orders/OrdersPage.tsx')).OrdersPage,
    navigation: { label: 'Orders', icon: 'orders', operation: 'list_order_rows' },
    actions: [{ label: 'Place an order', icon: 'plus', path: 'orders/new', operation: 'create_order' }],
    objects: { order_transaction: (id) => `orders?transaction=${id}` },
  },
  { path: 'orders/new', load: async () => (await import('./pages/new-order/NewOrderPage.tsx')).NewOrderPage },
  {
    path: 'orders/:order_id',
    load: async () => (await import('./pages/order/OrderPage.tsx')).OrderPage,
    objects: { order: (id) => `orders/${id}` },
  },
  {
    path: 'users',
    load: async () => (await import('./pages/users/UsersPage.tsx')).UsersPage,
    navigation: { label: 'Users', icon: 'users', operation: 'list_user_rows' },
  },
  {
    path: 'users/:user_id',
    load: async () => (await import('./pages/user/UserPage.tsx')).UserPage,
    objects: { user: (id) => `users/${id}` },
  },
  {
    path: 'catalog',
    load: async () => (await import('./pages/catalog/CatalogPage.tsx')).CatalogPage,
    navigation: { label: 'Catalog', icon: 'catalog', operation: 'get_paginated_lab_tests_for_team' },
  },
  { path: 'catalog/:section', load: async () => (await import('./pages/catalog/CatalogPage.tsx')).CatalogPage },
  {
    path: 'catalog/tests/:lab_test_id',
    load: async () => (await import('./pages/lab-test/LabTestPage.tsx')).LabTestPage,
    objects: { lab_test: (id) => `catalog/tests/${id}` },
  },
  { path: 'team-config', load: async () => (await import('./pages/team-config/TeamConfigPage.tsx')).TeamConfigPage },
  {
    path: 'events',
    load: async () => (await import('./pages/events/EventsPage.tsx')).EventsPage,
    navigation: { label: 'Events', icon: 'events', operation: 'list_event_rows' },
    sections: [
      { label: 'Events: Endpoints', path: 'events/endpoints', operation: 'list_webhooks' },
      { label: 'Events: Failures', path: 'events/failures', operation: 'list_delivery_failures' },
      { label: 'Events: Brokers', path: 'events/brokers', operation: 'get_team_etl_pipelines' },
    ],
  },
  {
    path: 'events/endpoints',
    load: async () => (await import('./pages/endpoints/EndpointsPage.tsx')).EndpointsPage,
    objects: { message: () => 'events/endpoints' },
  },
  {
    path: 'events/endpoints/:webhook_id',
    load: async () => (await import('./pages/endpoint/EndpointPage.tsx')).EndpointPage,
    objects: { endpoint: (id) => `events/endpoints/${id}` },
  },
  {
    path: 'events/failures',
    load: async () => (await import('./pages/failures/FailuresPage.tsx')).FailuresPage,
  },
  {
    path: 'events/brokers',
    load: async () => (await import('./pages/brokers/BrokersPage.tsx')).BrokersPage,
  },
  {
    path: 'events/:event_id',
    load: async () => (await import('./pages/event/EventPage.tsx')).EventPage,
    objects: { event: (id) => `events/${id}` },
  },
  {
    path: 'links',
    load: async () => (await import('./pages/links/IssuesPage.tsx')).IssuesPage,
    navigation: { label: 'Lab links', icon: 'links', operation: 'list_lab_link_issues' },
    sections: [
      { label: 'Lab links: Messages', path: 'links/messages', operation: 'list_lab_messages' },
      { label: 'Lab links: Lab accounts', path: 'links/accounts', operation: 'get_lab_links' },
      { label: 'Lab links: Shadow results', path: 'links/shadow', operation: 'get_lab_link_shadow' },
    ],
  },
  {
    path: 'links/messages',
    load: async () => (await import('./pages/link-messages/MessagesPage.tsx')).MessagesPage,
  },
  {
    path: 'links/messages/:message_id',
    load: async () => (await import('./pages/link-message/MessagePage.tsx')).MessagePage,
  },
  {
    path: 'links/accounts',
    load: async () => (await import('./pages/lab-links/LabLinksPage.tsx')).LabLinksPage,
  },
  {
    path: 'links/accounts/:account_id',
    load: async () => (await import('./pages/lab-link/LabLinkPage.tsx')).LabLinkPage,
  },
  {
    path: 'links/shadow',
    load: async () => (await import('./pages/link-shadow/ShadowPage.tsx')).ShadowPage,
  },
  {
    path: 'requests',
    load: async () => (await import('./pages/requests/RequestsPage.tsx')).RequestsPage,
    navigation: { label: 'Requests', icon: 'requests', operation: 'list_requests' },
    sections: [{ label: 'Requests: Explorer', path: 'requests/explorer', operation: 'list_requests' }],
  },
  {
    path: 'requests/explorer',
    load: async () => (await import('./pages/explorer/ExplorerPage.tsx')).ExplorerPage,
  },
  {
    path: 'requests/:request_id',
    load: async () => (await import('./pages/request/RequestPage.tsx')).RequestPage,
    objects: { request: (id) => `requests/${encodeURIComponent(id)}` },
  },
  {
    path: 'settings',
    load: loadSettings,
    navigation: { label: 'Settings', icon: 'settings', operation: 'get_team' },
    sections: SECTIONS.map(({ label, path, operation }) => ({
      label: `Settings: ${label}`,
      path: `settings/${path}`,
      operation,
    })),
  },
  { path: 'settings/:section', load: loadSettings, objects: { key: () => 'settings/keys' } },
  {
    path: 'health',
    load: async () => (await import('./pages/health/HealthPage.tsx')).HealthPage,
    navigation: { label: 'Health', icon: 'health', operation: 'get_team_event_delivery_metric' },
    objects: { job: () => 'health' },
  },
]

async function loadSettings(): Promise<ComponentType> {
  return (await import('./pages/settings/SettingsPage.tsx')).SettingsPage
}

/** Where the navigation leads for a page: to it, or else to the first of its sections that is permitted; undefined: to neither. */
export const navigationPath = (
  { path, navigation, sections = [] }: PageEntry,
  isPermitted: (operation: OperationId) => boolean,
): string | undefined =>
  navigation && (isPermitted(navigation.operation) ? path : sections.find(({ operation }) => isPermitted(operation))?.path)

/** Whether there is a page, or a section of one, at a path, which may have a query. */
export function hasPage(path: string): boolean {
  const [place] = path.split('?', 1)
  return PAGES.some((page) => page.path === place || page.sections?.some((section) => section.path === place))
}

/** The page that another team or environment has in place of this one: an address of one object has no meaning there, its list has. */
export function pageElsewhere(path: string): string {
  const page = PAGES.find((candidate) => matchPath(`/${candidate.path}`, `/${path}`))
  return page && !page.path.includes('_id') ? path : (path.split('/', 1)[0] ?? '')
}
