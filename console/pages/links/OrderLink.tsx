import { Anchor } from '@mantine/core'
import { Link } from 'react-router'
import { shortId } from '../../components/IdText.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useSession } from '../../session/session.ts'
import { useTeam } from '../../session/team.ts'

interface OrderLinkProps {
  order_id: string
  team_id: string
}

/** The order of a team of the organization, whose page shows the patient. Of another team than that of the page, with its name. */
export function OrderLink({ order_id, team_id }: OrderLinkProps) {
  const { team, cell } = useTeam()
  const { teams } = useSession()
  const canOpen = usePermission('get_order')
  const owner = teams.find(({ id }) => id === team_id)
  const label = `order ${shortId(order_id)}${team_id === team.id ? '' : ` of ${owner?.name ?? shortId(team_id)}`}`
  if (!canOpen || !owner) return <span title={order_id}>{label}</span>
  return (
    <Anchor component={Link} to={`/${team_id}/${cell}/orders/${order_id}`} size="sm" underline="always" title={order_id}>
      {label}
    </Anchor>
  )
}
