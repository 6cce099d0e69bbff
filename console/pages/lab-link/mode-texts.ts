import type { LabLink } from '../links/link-queries.ts'

/** What the link does in each mode. */
export const MODE_TEXTS: Record<LabLink['mode'], string> = {
  off: 'Nothing is sent or received. Messages to the laboratory wait, and its connections are refused, so that it keeps its results.',
  test: 'Only test messages go out, and nothing that comes in reaches an order. Orders go the way that they go without a link.',
  shadow:
    'Results are received and compared with what staff enter; no team sees them. Orders go the way that they go without a link.',
  live_for_team: 'Orders of one team are sent to the laboratory and its results applied. All other teams are in mode shadow.',
  live: 'Orders of every team under this account are sent to the laboratory, and results are applied.',
}
