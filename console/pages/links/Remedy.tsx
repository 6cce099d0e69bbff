import { Code, Text } from '@mantine/core'
import { CopyableCode } from '../../components/CopyableCode.tsx'
import { useTeam } from '../../session/team.ts'
import type { LinkIssue } from './issue-queries.ts'

/** What to do about an issue: the sentences, and the commands that they name with the ids of the issue. */
export function Remedy({ issue }: { issue: LinkIssue }) {
  const { cell } = useTeam()
  const parts = issue.remedy.split('`')
  const commands = parts.filter((part, index) => isCode(index) && part.startsWith('links ')).map((part) => fillIds(part, issue))
  return (
    <>
      <Text size="sm">{parts.map((part, index) => (isCode(index) ? <Code key={index}>{part}</Code> : part))}</Text>
      {commands.map((command) => (
        <CopyableCode key={command} text={`bin/drawbridge ${command} --cell ${cell}`} label="the command" />
      ))}
    </>
  )
}

const isCode = (index: number): boolean => index % 2 === 1

/** A command with the ids that the issue has in place of their names. */
function fillIds(command: string, { order_id, team_id, account_id }: LinkIssue): string {
  const filled = command.replace('ORDER_ID', order_id ?? 'ORDER_ID').replace('TEAM_ID', team_id ?? 'TEAM_ID')
  return filled === 'links check' ? `links check ${account_id ?? 'ACCOUNT_ID'}` : filled
}
