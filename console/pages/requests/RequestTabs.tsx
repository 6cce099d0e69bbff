import { LinkTabs } from '../../components/LinkTabs.tsx'

const TABS = [
  { label: 'Log', path: 'requests', operation: 'list_requests' },
  { label: 'Explorer', path: 'requests/explorer', operation: 'list_requests' },
] as const

/** The log of requests, and the page on which they are tried. */
export const RequestTabs = () => <LinkTabs label="Requests" tabs={TABS} />
