import { NavLink } from 'react-router'
import { usePermissions, type OperationId } from '../session/permissions.ts'
import { useTeam } from '../session/team.ts'
import classes from './LinkTabs.module.css'

interface LinkTab {
  label: string
  /** Below the team and the environment. */
  path: string
  /** Members who may not call it do not see the tab. */
  operation: OperationId
}

interface LinkTabsProps {
  /** What the tabs are of, for screen readers. */
  label: string
  tabs: readonly LinkTab[]
}

/** The pages of one part of the console, as links that look like tabs. */
export function LinkTabs({ label, tabs }: LinkTabsProps) {
  const { pathTo } = useTeam()
  const isPermitted = usePermissions()
  return (
    <nav aria-label={label} className={classes.tabs}>
      {tabs
        .filter(({ operation }) => isPermitted(operation))
        .map((tab) => (
          <NavLink key={tab.path} to={pathTo(tab.path)} end={isParent(tab, tabs)} className={classes.tab}>
            {tab.label}
          </NavLink>
        ))}
    </nav>
  )
}

/** The first page of a part is not the current one where another tab is. */
const isParent = ({ path }: LinkTab, tabs: readonly LinkTab[]): boolean => tabs.some((tab) => tab.path.startsWith(`${path}/`))
