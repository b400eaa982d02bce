import { booleanSetting } from '../config/settings.ts'

/** Settings of every program with a console. */
export const consoleShape = {
  'ui.enabled': booleanSetting()
    .default(true)
    .describe('Serves the console, a page for people, at `/ui`. It can do what the REST API permits the user to do.'),
}

/** Descriptions of these settings for generated pages. */
export const CONSOLE_DESCRIPTIONS = { 'ui.enabled': consoleShape['ui.enabled'].description ?? '' } as const
