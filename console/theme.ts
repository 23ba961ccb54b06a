import { generateThemeStylesheet, type Theme } from "@cloudscape-design/components/theming";

const sans = "'Inter Variable', system-ui, sans-serif";
const accent = { light: "#0f766e", dark: "#2dd4bf" };
const accentStrong = { light: "#115e59", dark: "#5eead4" };
const accentDeep = { light: "#134e4a", dark: "#99f6e4" };
const accentFaint = { light: "#f0fdfa", dark: "#0b2e2b" };
const onAccent = { light: "#ffffff", dark: "#042f2e" };

/** Our own colours and shapes on Cloudscape's components; names and meanings of tokens are theirs. */
const theme: Theme = {
  tokens: {
    fontFamilyBase: sans,
    fontFamilyHeading: sans,
    fontFamilyDisplay: sans,
    fontFamilyMonospace: "ui-monospace, 'SFMono-Regular', Menlo, Consolas, 'Liberation Mono', monospace",
    colorBackgroundInputDefault: { light: "#ffffff", dark: "#0c1413" },
    colorBackgroundDropdownItemDefault: { light: "#ffffff", dark: "#121d1c" },
    colorBackgroundPopover: { light: "#ffffff", dark: "#17211f" },
    colorBackgroundLayoutPanel: { light: "#ffffff", dark: "#0f1917" },
    colorBackgroundLayoutToolbar: { light: "#ffffff", dark: "#0f1917" },
    colorBackgroundStatusInfo: { light: "#f0fdfa", dark: "#0b2e2b" },
    colorBorderStatusInfo: accent,
    colorTextStatusInfo: accent,
    borderRadiusButton: "8px",
    borderRadiusContainer: "12px",
    borderRadiusInput: "8px",
    colorBackgroundLayoutMain: { light: "#f7f9f9", dark: "#0c1413" },
    colorBackgroundContainerContent: { light: "#ffffff", dark: "#121d1c" },
    colorBackgroundContainerHeader: { light: "#ffffff", dark: "#121d1c" },
    colorBackgroundButtonPrimaryDefault: accent,
    colorBackgroundButtonPrimaryHover: accentStrong,
    colorBackgroundButtonPrimaryActive: accentDeep,
    colorTextButtonPrimaryDefault: onAccent,
    colorTextButtonPrimaryHover: onAccent,
    colorTextButtonPrimaryActive: onAccent,
    colorBorderButtonNormalDefault: accent,
    colorBorderButtonNormalHover: accentStrong,
    colorBorderButtonNormalActive: accentDeep,
    colorTextButtonNormalDefault: accent,
    colorTextButtonNormalHover: accentStrong,
    colorTextButtonNormalActive: accentDeep,
    colorBackgroundButtonNormalHover: accentFaint,
    colorBackgroundButtonNormalActive: accentFaint,
    colorTextLinkDefault: accent,
    colorTextLinkHover: accentStrong,
    colorTextAccent: accent,
    colorBorderItemFocused: accent,
    colorBorderInputFocused: accent,
    colorBorderItemSelected: accent,
    colorBackgroundItemSelected: accentFaint,
    colorBackgroundControlChecked: accent,
    colorForegroundControlDefault: onAccent,
    colorBackgroundToggleCheckedDisabled: accentFaint,
    colorBackgroundSegmentActive: accent,
    colorTextSegmentActive: onAccent,
  },
  contexts: {
    alert: { tokens: { colorBorderStatusInfo: accent } }, // an alert has colours of its own, which the theme does not reach
    "top-navigation": {
      tokens: {
        colorBackgroundContainerContent: "#0b1f1d",
        colorBackgroundInputDefault: "#0f2a27",
        colorTextInteractiveDefault: "#d5f5f0",
        colorTextInteractiveHover: "#ffffff",
        colorTextAccent: "#5eead4",
      },
    },
  },
};

export const sheet = generateThemeStylesheet({ theme });
