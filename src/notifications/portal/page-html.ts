// The pages of the portal: a patient's orders, and the messages about them.
import type { PageResponse } from '../../platform/http/browser-pages.ts'
import { escapeHtml, linkButton, phonePage } from '../../platform/http/phone-page.ts'
import type { Channel } from '../messages/message-rules.ts'
import { ORDERS_MAX, type ShownChannel, type ShownLink, type ShownOrder } from './shown-orders.ts'

/** The team, as patients know it. */
export interface ShownTeam {
  name: string
  support_email: string | null
}

const paragraph = (text: string, kind = ''): string => `<p${kind && ` class="${kind}"`}>${escapeHtml(text)}</p>`

const help = ({ name, support_email }: ShownTeam): string =>
  support_email === null
    ? paragraph(`Questions? Please ask ${name}.`, 'note')
    : `<p class="note">Questions? Write to <a href="mailto:${escapeHtml(encodeURI(support_email))}">${escapeHtml(support_email)}</a>.</p>`

function orderCard({ name, title, sentence, facts, links, asksTeam }: ShownOrder, team: ShownTeam): string {
  const lines = [
    `<section class="card">`,
    `<h2>${escapeHtml(name)}</h2>`,
    paragraph(title, 'state'),
    paragraph(asksTeam ? `${sentence} ${team.name} will tell you more.` : sentence),
    ...facts.map((fact) => paragraph(fact, 'note')),
    ...links.map(({ href, text }) => linkButton(href, text)),
    `</section>`,
  ]
  return lines.join('\n')
}

/** The orders. @param links to the other pages of the portal */
export function ordersPage(team: ShownTeam, orders: readonly ShownOrder[], links: readonly ShownLink[]): PageResponse {
  const parts = [
    ...(orders.length === 0 ? [paragraph(`You have no orders at ${team.name} yet.`)] : []),
    ...orders.map((order) => orderCard(order, team)),
    ...(orders.length === ORDERS_MAX ? [paragraph(`These are your ${ORDERS_MAX} newest orders.`, 'note')] : []),
    ...links.map(({ href, text }) => linkButton(href, text, true)),
    help(team),
  ]
  return phonePage(200, `Your orders at ${team.name}`, parts.join('\n'))
}

const channelWords: Record<Channel, { name: string; kinds: string }> = {
  sms: {
    name: 'Text messages',
    kinds: 'Each step of your order, reminders of what you have to do, and reminders of appointments.',
  },
  email: {
    name: 'Emails',
    kinds: 'A requisition that is ready, an appointment at your home, and another sample that is needed.',
  },
}

function channelCard({ channel, isOffered, isOn, recipient }: ShownChannel, team: ShownTeam, action: string): string {
  const { name, kinds } = channelWords[channel]
  const state = !isOffered ? `${team.name} sends none` : isOn ? `On${recipient === undefined ? '' : `, to ${recipient}`}` : 'Off'
  const button = `<form method="post" action="${escapeHtml(action)}"><button class="button quiet" name="${channel}" value="${isOn ? 'off' : 'on'}">Turn ${name.toLowerCase()} ${isOn ? 'off' : 'on'}</button></form>`
  return [
    `<section class="card">`,
    `<h2>${name}</h2>`,
    paragraph(state, 'state'),
    paragraph(kinds),
    ...(isOffered || !isOn ? [button] : []),
    `</section>`,
  ].join('\n')
}

/** @param action where a form is sent that turns a channel off or on */
const channelCards = (channels: readonly ShownChannel[], team: ShownTeam, action: string): string =>
  channels.map((channel) => channelCard(channel, team, action)).join('\n')

/** The channels, each with its switch. */
export const messagesPage = (
  team: ShownTeam,
  channels: readonly ShownChannel[],
  { action, back }: { action: string; back: string },
): PageResponse =>
  phonePage(
    200,
    `Messages from ${team.name}`,
    `${channelCards(channels, team, action)}\n${linkButton(back, 'Your orders', true)}\n${help(team)}`,
    { hasForms: true },
  )

/** The page of a link in a message: the birth date opens the orders; the messages need no answer. */
export function shortLinkPage(
  team: ShownTeam,
  channels: readonly ShownChannel[],
  { action, isLocked, wasWrong }: { action: string; isLocked: boolean; wasWrong: boolean },
): PageResponse {
  const question = `<form method="post" action="${escapeHtml(action)}">
<label for="birth_date">Your birth date</label>
<input id="birth_date" name="birth_date" type="date" required autocomplete="bday">
<button class="button">See your orders</button>
</form>`
  const locked = `<p role="alert">The birth date was wrong too often. Please ask ${escapeHtml(team.name)} for another link.</p>`
  const wrong = `<p role="alert">This is not the birth date that ${escapeHtml(team.name)} knows. Please try again.</p>`
  const parts = [
    `<section class="card">`,
    `<h2>Your orders</h2>`,
    isLocked ? locked : `${wasWrong ? wrong : ''}${question}`,
    `</section>`,
    channelCards(channels, team, `${action}/messages`),
    help(team),
  ]
  return phonePage(wasWrong ? 403 : 200, team.name || 'Your orders', parts.join('\n'), { hasForms: true })
}

/** The link cannot be used. */
export const refusedPage = (status: number, reason: 'expired' | 'invalid'): PageResponse =>
  phonePage(
    status,
    reason === 'expired' ? 'This link has expired' : 'This link is not valid',
    '<p>Please go back to the app, the website or the message that sent you here, and open it again.</p>',
  )
