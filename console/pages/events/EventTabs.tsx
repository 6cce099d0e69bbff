import { LinkTabs } from '../../components/LinkTabs.tsx'

const TABS = [
  { label: 'Events', path: 'events', operation: 'list_event_rows' },
  { label: 'Endpoints', path: 'events/endpoints', operation: 'list_webhooks' },
  { label: 'Failures', path: 'events/failures', operation: 'list_delivery_failures' },
  { label: 'Brokers', path: 'events/brokers', operation: 'get_team_etl_pipelines' },
] as const

/** The pages about events: the list, who receives them, and what fails. */
export const EventTabs = () => <LinkTabs label="Events" tabs={TABS} />
