import { useQuery } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import type { Part } from '../../components/bars/Bars.tsx'
import { DailySection } from '../../components/bars/DailySection.tsx'
import { useTeam } from '../../session/team.ts'

/** The three states of an order that is under way are one part: the list of orders tells them apart. */
type OrderPart = 'open' | 'completed' | 'cancelled' | 'failed'

const PARTS: readonly Part<OrderPart>[] = [
  { name: 'open', label: 'Under way', tone: 'progress' },
  { name: 'completed', label: 'Completed', tone: 'good' },
  { name: 'cancelled', label: 'Cancelled', tone: 'neutral' },
  { name: 'failed', label: 'Failed', tone: 'failed' },
]

/** The states of each part in the list of orders. */
const STATES: Record<OrderPart, readonly string[]> = {
  open: ['received', 'collecting_sample', 'sample_with_lab'],
  completed: ['completed'],
  cancelled: ['cancelled'],
  failed: ['failed'],
}

/** The orders of 30 days, by the day of their creation and their present state. A part and a day lead to their orders. */
export function OrdersByDay() {
  const { pathTo } = useTeam()
  const query = useOrdersByDay()
  const first = query.data?.[0]?.date
  const pathOf = (filters: string[][]): string => pathTo(`orders?${String(new URLSearchParams(filters))}`)
  return (
    <DailySection
      id="orders-by-day"
      title="Orders of 30 days"
      label="Orders by day"
      parts={PARTS}
      emptyText="No orders in these days"
      query={query}
      partPath={(part) =>
        pathOf([...STATES[part].map((state) => ['state', state]), ...(first === undefined ? [] : [['created_from', first]])])
      }
      dayPath={(date) =>
        pathOf([
          ['created_from', date],
          ['created_until', date],
        ])
      }
    />
  )
}

function useOrdersByDay() {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'orders-by-day'],
    queryFn: ({ signal }) => dataOf(api.GET('/console/v1/orders_by_day', { signal })),
    select: ({ data }) =>
      data.map(({ date, received, collecting_sample, sample_with_lab, completed, cancelled, failed }) => ({
        date,
        counts: { open: received + collecting_sample + sample_with_lab, completed, cancelled, failed },
      })),
  })
}
