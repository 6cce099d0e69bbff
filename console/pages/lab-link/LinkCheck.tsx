import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { CopyableCode } from '../../components/CopyableCode.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { toWords } from '../../components/order-status.ts'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { useLinkChanges, type LabLink, type LinkCheckStep } from '../links/link-queries.ts'
import classes from './LinkCheck.module.css'

/** Checks the link from the server, and shows each step with its outcome and what to do. */
export function LinkCheck({ link: { account_id } }: { link: LabLink }) {
  const { cell } = useTeam()
  const canCheck = usePermission('check_lab_link')
  const { check } = useLinkChanges(account_id)
  const checking = useMutation({ mutationFn: check })
  return (
    <Stack gap="sm" component="section" aria-labelledby="link-check">
      <Title order={2} id="link-check">
        Check
      </Title>
      <Text size="sm">
        The server tries name, port, TLS, login and folders of the laboratory, and sends it a test message without patient or
        order, which the laboratory acknowledges. It takes up to a minute.
      </Text>
      {canCheck && (
        <Group>
          <Button variant="default" loading={checking.isPending} onClick={() => checking.mutate()}>
            Check link
          </Button>
        </Group>
      )}
      {checking.error && <ErrorNotice error={checking.error} />}
      {checking.data && <CheckSteps steps={checking.data.steps} isWorking={checking.data.is_working} />}
      <CopyableCode text={`bin/drawbridge links check ${account_id} --cell ${cell}`} label="the command" />
    </Stack>
  )
}

const TONES = { ok: 'good', failed: 'failed', open: 'attention' } as const
const WORDS = { ok: 'works', failed: 'failed', open: 'open' } as const

function CheckSteps({ steps, isWorking }: { steps: LinkCheckStep[]; isWorking: boolean }) {
  const open = steps.filter(({ outcome }) => outcome === 'open').length
  return (
    <>
      <Text fw={600} size="sm" component="output">
        {isWorking ? 'No step has failed' : 'The link does not work'}
        {open > 0 && `, ${open} ${open === 1 ? 'is' : 'are'} open`}
      </Text>
      <ol className={classes.steps} aria-label="Steps of the check">
        {steps.map(({ name, outcome, text, advice }, index) => (
          <li key={index} className={classes.step}>
            <StatusBadge tone={TONES[outcome]}>{WORDS[outcome]}</StatusBadge>
            <div>
              <Text fw={600} size="sm">
                {toWords(name)}
              </Text>
              <Text size="sm" className={classes.text}>
                {text}
              </Text>
              {advice !== null && (
                <Text size="sm" c="dimmed" className={classes.text}>
                  {advice}.
                </Text>
              )}
            </div>
          </li>
        ))}
      </ol>
    </>
  )
}
