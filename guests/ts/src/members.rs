//! Classes: what only the compiler of TypeScript reads of a member, and members that are nothing else.

use crate::erase::Eraser;
use crate::scan::tokens;
use oxc_ast::ast::*;
use oxc_span::{GetSpan as _, Span};

/// Words before a member's name that JavaScript does not have.
const WORDS: &[&str] = &["public", "private", "protected", "override", "readonly", "abstract", "declare"];

const PARAMETER: &str =
    "a parameter that declares a property is more than types, which is all that is stripped: assign it";

impl Eraser<'_> {
    pub(crate) fn check_parameter(&mut self, it: &FormalParameter<'_>) {
        if it.accessibility.is_some() || it.readonly || it.r#override {
            self.refuse(it.span, PARAMETER);
        }
    }

    /// `abstract` before it, and `implements …` before its body.
    pub(crate) fn erase_class_words(&mut self, it: &Class<'_>) {
        let (start, body) = (it.span.start as usize, it.body.span.start as usize);
        let after = it.decorators.last().map_or(start, |it| it.span.end as usize);
        if it.r#abstract
            && let Some(word) = tokens(self.text, after, body).find(|it| it.text == "abstract")
        {
            self.blanks.erase(word.at, word.at + word.text.len());
        }
        let Some(first) = it.implements.first() else { return };
        let heritage = it
            .heritage
            .as_ref()
            .map(|it| it.type_arguments.as_ref().map_or(it.expression.span().end, |types| types.span.end));
        let name = it.id.as_ref().map(|it| it.span.end);
        let types = it.type_parameters.as_ref().map(|it| it.span.end);
        let from = heritage.or(types).or(name).map_or(after, |it| it as usize);
        let word = tokens(self.text, from, first.span.start as usize).find(|it| it.text == "implements");
        if let Some(word) = word {
            self.blanks.erase(word.at, body);
        }
    }

    /// True if nothing of the member is left; otherwise it has lost the words before its name.
    pub(crate) fn is_member_erased(&mut self, it: &ClassElement<'_>) -> bool {
        let (span, decorators, key, is_type, sign) = match it {
            ClassElement::StaticBlock(_) => return false,
            ClassElement::TSIndexSignature(it) => {
                self.erase_statement(it.span);
                return true;
            }
            ClassElement::MethodDefinition(it) => {
                let sign = it.optional.then_some("?");
                (it.span, &it.decorators, &it.key, it.value.body.is_none(), sign)
            }
            ClassElement::PropertyDefinition(it) => {
                let is_type = it.declare || it.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition;
                let sign = it.optional.then_some("?").or(it.definite.then_some("!"));
                (it.span, &it.decorators, &it.key, is_type, sign)
            }
            ClassElement::AccessorProperty(it) => {
                let is_type = it.r#type == AccessorPropertyType::TSAbstractAccessorProperty;
                (it.span, &it.decorators, &it.key, is_type, it.definite.then_some("!"))
            }
        };
        if is_type {
            self.erase_statement(span);
            return true;
        }
        let start = decorators.last().map_or(span.start, |it| it.span.end);
        self.erase_words(Span::new(start, key.span().start), decorators.is_empty());
        if let Some(sign) = sign {
            self.erase_sign(key.span().end, sign);
        }
        false
    }

    /// The first of them may become a semicolon, so that the member before does not go on.
    fn erase_words(&mut self, before: Span, may_end: bool) {
        let (start, end) = (before.start as usize, before.end as usize);
        for (index, word) in tokens(self.text, start, end).enumerate() {
            if WORDS.contains(&word.text) {
                self.blanks.erase(word.at, word.at + word.text.len());
                if index == 0 && may_end {
                    self.blanks.put(word.at, b';');
                }
            }
        }
    }
}
